/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_MULTI_H
#define EBPF_UPROBE_MULTI_H

#include "helper/file.h"
#include "helper/helper_uprobe_multi.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Locations of one file and the loaded program to attach to them. */
struct uprobe_multi {
	int program, file;
	uint64_t owner; /* number of the file, see struct file_request */
	bool at_return;
	const uint64_t *offsets, *semaphores, *cookies; /* arrays of `count`; a semaphore of 0:
							 * none */
	size_t count;
};

/* Links the program to all locations, in all processes. The helper makes the link, as the kernel
 * reads the file meanwhile. The caller closes *ret_fd. Returns 0, a negative errno of the kernel,
 * or -ETIMEDOUT, -EPIPE or -EBUSY of the helper. */
int uprobe_multi_link(struct file_helper *files, const struct uprobe_multi *links, int *ret_fd);

/* Explains an error of uprobe_multi_link(). */
const char *uprobe_multi_strerror(int status);

/* Tries whether the kernel has such links (since Linux 6.6). */
bool uprobe_multi_is_supported(void);

/* Before load: makes it a program for many functions of a file. */
void uprobe_multi_set(struct bpf_program *program);

/* Is it a program for many functions of a file? Also before load. */
bool uprobe_multi_is_of(const struct bpf_program *program);

#endif
