/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRIAL_PROGRAM_H
#define EBPF_TRIAL_PROGRAM_H

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdint.h>

/* Loads a program that returns 0, to learn what the kernel lets a program be attached to. btf_id:
 * the kernel function of a program of BPF_PROG_TYPE_TRACING; else 0. Returns a descriptor, which
 * the caller closes, or a negative errno. */
int trial_program_load(enum bpf_prog_type type, enum bpf_attach_type attach_type, uint32_t btf_id);

#endif
