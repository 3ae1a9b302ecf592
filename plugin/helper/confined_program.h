/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONFINED_PROGRAM_H
#define EBPF_CONFINED_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define CONFINED_NOT_STARTED 127 /* exit status if it could not be started */

/* Runs the program that is open as descriptor `program`, with `descriptors` as 0, 1, ... and no
 * others, an empty environment, no privileges and at most cpu_s of processor time. Kills it after
 * wait_ms. Returns 0 and its status as of waitpid(2); -ETIME: it was killed; or a negative errno.
 * For a process of one thread, which may be forked from one of many: it makes system calls only. */
int confined_run(int program, const char *name, const int *descriptors, size_t count,
		 unsigned cpu_s, unsigned wait_ms, int *ret_status);

#endif
