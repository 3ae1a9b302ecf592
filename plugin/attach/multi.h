/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MULTI_H
#define EBPF_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Programs for many functions at once (kprobe.multi, uprobe.multi). What the kernel has is found out by
 * trying it. */

/* Has it links for many of its own functions, and of a file? */
bool multi_has_kernel(void);
bool multi_has_files(void);

/* Before load: the program will be loaded for many functions of a file. */
void multi_set_of_files(struct bpf_program *program);

/* Is the program of that kind? */
bool multi_is_of_files(const struct bpf_program *program);
bool multi_is_of_kernel(const struct bpf_program *program);

#endif
