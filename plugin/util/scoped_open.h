/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCOPED_OPEN_H
#define EBPF_SCOPED_OPEN_H

#include <linux/openat2.h>
#include <stdint.h>

/* Opens a path below a directory, as openat2(2) with these flags and RESOLVE_* bits: a descriptor, or its
 * error. -EAGAIN: it was tried SCOPED_OPEN_TRIES times. */
#define SCOPED_OPEN_TRIES 100
int scoped_open(int directory, const char *path, uint64_t flags, uint64_t resolve);

#endif
