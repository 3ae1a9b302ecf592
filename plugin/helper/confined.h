/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONFINED_H
#define EBPF_CONFINED_H

#include <stddef.h>
#include <stdint.h>

#define CONFINED_NOT_STARTED 127 /* its exit status then */

/* Runs a program, open as such a descriptor, that has descriptors 0, 1, ... alone, no environment, no
 * privileges and bounds on its processor time, until it ends or wait_ms have passed, when it is
 * killed. Returns 0 and how it has ended, as waitpid(2) says it; -ETIME: it was killed; or a negative
 * errno. For a process of one thread, which may be forked from one of many: system calls alone. */
int confined_run(int program, const char *name, const int *descriptors, size_t count,
		 unsigned cpu_s, unsigned wait_ms, int *ret_status);

#endif
