/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_SANDBOX_H
#define EBPF_SYMBOLS_SANDBOX_H

/* System calls that ebpf-symbols may make. */

/* Restricts the process: it can read and write open descriptors, and end; openat() and a few more
 * fail with EACCES; any other system call kills it. Bounds its memory. Returns 0 or a negative
 * errno. */
int sandbox_enter(void);

#endif
