/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCOPED_OPEN_H
#define EBPF_SCOPED_OPEN_H

/* openat2(2), tried again. */

#include <linux/openat2.h>
#include <stdint.h>

/* Opens a path below a directory with these flags and RESOLVE_* bits of openat2(2). Returns a
 * descriptor or a negative errno; -EAGAIN: all SCOPED_OPEN_TRIES failed so. */
#define SCOPED_OPEN_TRIES 100
int scoped_open(int directory, const char *path, uint64_t flags, uint64_t resolve);

#endif
