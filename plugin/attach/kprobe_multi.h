/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KPROBE_MULTI_H
#define EBPF_KPROBE_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Tries whether the kernel can link one program to many of its functions (kprobe.multi, since Linux
 * 5.18 with CONFIG_FPROBE). */
bool kprobe_multi_is_supported(void);

/* Is the program SEC("kprobe.multi") or SEC("kretprobe.multi")? Also before load. */
bool kprobe_multi_is_of(const struct bpf_program *program);

#endif
