/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_MULTI_H
#define EBPF_UPROBE_MULTI_H

#include "helper/answer_uprobe_multi.h"
#include "helper/file.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Many places of one file, and the program to be attached to them, which is loaded for that. */
struct uprobe_multi {
	int program, file;
	uint64_t owner; /* number of the file, see struct file_request */
	bool at_return;
	const uint64_t *offsets, *semaphores, *cookies; /* `count` of each; semaphores of 0: none */
	size_t count;
};

/* A link of all of them, in all processes, which the caller closes: made by the worker, as the kernel
 * reads the file. 0; what the kernel says; -ETIMEDOUT, -EPIPE or -EBUSY of the worker. */
int uprobe_multi_link(struct file_reader *files, const struct uprobe_multi *links, int *ret_fd);

/* What uprobe_multi_link has returned, in words. */
const char *uprobe_multi_strerror(int status);

/* Has the kernel such links (since Linux 6.6)? Found out by trying it. */
bool uprobe_multi_is_supported(void);

/* Before load: the program will be loaded for many functions of a file. */
void uprobe_multi_set(struct bpf_program *program);

/* Is the program loaded, or will it be, for many functions of a file? */
bool uprobe_multi_is_of(const struct bpf_program *program);

#endif
