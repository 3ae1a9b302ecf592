/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_EVENT_H
#define EBPF_UPROBE_EVENT_H

#include "helper/symbol_location.h"

#include <stdbool.h>

/* Opens a perf event for a BPF program: executions of the location in the file, or returns of the
 * function that starts there, in all processes. The helper opens it. The caller closes *ret_fd.
 * Returns 0 or a negative errno, and the error says why. */
int uprobe_event(struct file_helper *files, const struct symbol_file *file,
		 const struct symbol_location *location, bool at_return, int *ret_fd,
		 struct error *error);

#endif
