/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KPROBE_MULTI_H
#define EBPF_KPROBE_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Has the kernel links of one program to many of its functions (kprobe.multi, since Linux 5.18 with
 * CONFIG_FPROBE)? Found out by trying it. */
bool kprobe_multi_is_supported(void);

/* Is the program, which may be unloaded, SEC("kprobe.multi") or SEC("kretprobe.multi")? */
bool kprobe_multi_is_of(const struct bpf_program *program);

#endif
