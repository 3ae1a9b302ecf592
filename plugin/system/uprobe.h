/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_H
#define EBPF_UPROBE_H

#include "answer.h"
#include "file.h"

#include <stdbool.h>
#include <stdint.h>

struct uprobe_request {
	const char *path;
	const char *function; /* NULL: the offset alone, or a marker */
	const char *marker;   /* PROVIDER:NAME; NULL: a function or an offset */
	unsigned index;       /* of the marker's places */
	uint64_t offset;      /* bytes, from the function or in the file */
	bool at_return;
};

/* A perf event that a BPF program can be attached to, which the caller closes: calls of the
 * function, or returns from it, or the marker, in all processes. The worker opens the file,
 * reads it and gives it to the kernel: nothing of the path is touched here. Returns 0 or a
 * negative errno, of the step; -ENOMSG of UPROBE_SEARCH: the marker has no such place. */
int uprobe_open(struct file_reader *reader, const struct uprobe_request *request, int *ret_fd,
		enum uprobe_step *ret_step);

/* What uprobe_open has returned, in words. */
const char *uprobe_strerror(int status, enum uprobe_step step);

#endif
