/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_SANDBOX_H
#define EBPF_SYMBOLS_SANDBOX_H

/* From here on this process can read what is open, write to it, and end; any other system call kills
 * it. Its memory and processor time are bounded. Returns 0 or a negative errno. */
int sandbox_enter(void);

#endif
