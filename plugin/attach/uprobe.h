/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_H
#define EBPF_UPROBE_H

#include "attachment.h"
#include "helper/file.h"
#include "helper/symbol_location.h"
#include "util/message.h"

#include <stddef.h>

/* The links of programs to locations in one file, and the locations that wait: the kernel had no
 * memory or time for them, or their symbols could not be looked up yet. */
struct uprobe_links {
	int *fd;
	size_t count;
	struct uprobe_location *deferred;
	size_t deferred_count;
	uint64_t deferred_ns; /* since when some have waited, of clock_ns() */
	uint64_t due_ns;      /* the next try */
	uint64_t wait_ns;     /* before it; 0: nothing was ever deferred */
};

/* Attaches the items, whose hooks are in this file: each program to all its locations by one link
 * if the kernel has uprobe.multi, else by one link per location. What fails is recorded per
 * attachment and is an error only if that is needed; what may succeed later is deferred in any
 * case. -ENOMEM. The caller closes the links, also after an error. */
int uprobe_links_open(struct uprobe_links *links, const char *probe,
		      struct attachment *const *items, size_t count, const struct symbol_file *file,
		      struct file_helper *files, struct error *error);

/* Looks up and attaches what was deferred if that is due: after a second, two more, four and so on, finally
 * every 17 minutes, as a try may take as long as the kernel permits, and memory from processes that
 * have little. Records what is attached now, and what still waits after some seconds. Errors of
 * uprobe_links_open(). */
int uprobe_links_again(struct uprobe_links *links, const char *probe,
		       const struct symbol_file *file, struct file_helper *files,
		       struct error *error);

/* Detaches all and forgets what was deferred. */
void uprobe_links_done(struct uprobe_links *links);

#endif
