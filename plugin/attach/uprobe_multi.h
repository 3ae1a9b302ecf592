/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_MULTI_H
#define EBPF_UPROBE_MULTI_H

#include "helper/file.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tries whether the kernel has such links (since Linux 6.6). */
bool uprobe_multi_is_supported(void);

/* Before load: makes it a program for many functions of a file. */
void uprobe_multi_set(struct bpf_program *program);

/* Is it a program for many functions of a file? Also before load. */
bool uprobe_multi_is_of(const struct bpf_program *program);

#endif
