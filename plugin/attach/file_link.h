/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_LINK_H
#define EBPF_FILE_LINK_H

#include "attachment_item.h"
#include "helper/file.h"
#include "helper/symbol.h"
#include "util/message.h"

#include <stddef.h>

/* Descriptors of links of programs to places in one file, and the places for which the kernel had no
 * memory or time, or of which it is not known yet where they are. */
struct file_links {
	int *fd;
	size_t count;
	struct uprobe_location *deferred;
	size_t deferred_count;
	unsigned pause, paused; /* calls of file_links_again() that do nothing, and how many have */
};

/* Attaches what is for points of this file: each program to all its places by one link where the
 * kernel has that, else to each place by one. What cannot be is noted of each attachment; where one is
 * needed it is an error, and so is -ENOMEM, but what may pass is deferred, needed or not. What there is of links is
 * the caller's in any case. */
int file_links_open(struct file_links *links, const char *probe, struct attachment *const *items,
		    size_t count, const struct symbol_file *file, struct file_reader *files,
		    struct error *error);

/* Finds and attaches what was deferred, at the calls 1, 3, 7 and so on, at last each 64th: a try may take as
 * long as the kernel lets it, and memory from processes that have none. What is deferred again is
 * noted, and so is what is attached now. Errors of file_links_open(). */
int file_links_again(struct file_links *links, const char *probe, const struct symbol_file *file,
		     struct file_reader *files, struct error *error);

/* Detaches. */
void file_links_done(struct file_links *links);

#endif
