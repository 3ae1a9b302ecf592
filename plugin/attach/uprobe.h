/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_H
#define EBPF_UPROBE_H

#include "helper/symbol.h"

#include <stdbool.h>

/* Of -ENOMEM. */
#define UPROBE_NO_MEMORY                                                                          \
	"the kernel has no memory for it, or a process that has the file is at the memory limit " \
	"of its cgroup"

/* A perf event that a BPF program can be attached to, which the caller closes: calls of the place in
 * the file, or returns from it, in all processes. The worker gives it to the kernel. Returns 0 or a
 * negative errno, and the error says why. */
int uprobe_event(struct file_reader *files, const struct symbol_file *file,
		 const struct symbol_place *location, bool at_return, int *ret_fd,
		 struct error *error);

#endif
