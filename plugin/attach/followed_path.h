/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FOLLOWED_PATH_H
#define EBPF_FOLLOWED_PATH_H

#include "attachment.h"
#include "helper/symbol_location.h"
#include "uprobe.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* The attachments of one path, as collectd or the processes of a service see it, and the files
 * found there. */
struct followed_path {
	const char *service; /* NULL: the path is as collectd sees it */
	const char *path;    /* NULL: the program that the service runs */
	unsigned part;       /* of the attachments */
	bool paused;         /* detached, and not checked */
	struct attachment **items;
	size_t item_count;
	struct followed_file {
		struct symbol_file file; /* open */
		struct uprobe_links links;
		bool attached;   /* it was tried, with whatever result */
		bool late;       /* another file was there before, or none */
		unsigned missed; /* checks since the one that found a process with it, inclusive */
	} * files;
	size_t file_count; /* in the order of discovery */
	bool waits;        /* there is no such file or process yet, or it does not answer */
	unsigned late;     /* times in a row that it did not answer */
	bool logged;       /* it was logged why there is none */
};

/* Is the attachment for this path, and of its part? */
bool followed_path_fits(const struct followed_path *path, const struct attachment *attachment);

/* Adds an attachment, which the caller keeps. -ENOMEM. */
int followed_path_add(struct followed_path *path, struct attachment *item);

/* Finds the files that are there now, attaches to new ones, and removes those that no process can
 * run any more. Failures are recorded, see attachment_message.h. Returns an error if a needed
 * attachment failed. */
int followed_path_update(struct followed_path *path, const char *probe,
			 const struct file_finder *finder, struct error *error);

/* Attaches to the files that are known what was deferred there, if that is due. The same errors. */
int followed_path_retry(struct followed_path *path, const char *probe,
			const struct file_finder *finder, struct error *error);

/* Is it waiting for a file, for a process, or for memory of the kernel? */
bool followed_path_waits(const struct followed_path *path);

/* Returns the number of links. */
size_t followed_path_links(const struct followed_path *path);

/* Detaches; the files stay open and can be attached again. */
void followed_path_undo(struct followed_path *path);

void followed_path_done(struct followed_path *path);

#endif
