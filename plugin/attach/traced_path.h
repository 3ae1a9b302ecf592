/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRACED_PATH_H
#define EBPF_TRACED_PATH_H

#include "attachment_item.h"
#include "file_link.h"
#include "helper/symbol.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* What attachments are of one path, as collectd or the processes of a service see it, and the files
 * that were found there. */
struct traced_path {
	const char *service; /* NULL: as collectd sees it */
	const char *path;    /* NULL: the program that the service runs */
	unsigned part;       /* of the attachments */
	bool paused;         /* detached, and not looked for */
	struct attachment **items;
	size_t item_count;
	struct traced_file {
		struct symbol_file file; /* open */
		struct file_links links;
		bool attached;   /* or refused, or deferred */
		bool late;       /* there was another one before, or none */
		unsigned missed; /* so many times in a row no process had it */
	} * files;
	size_t file_count; /* by when they were found first */
	bool waits;        /* there is no such file or process yet */
	bool logged;       /* why there is none */
};

/* Is the attachment of this path, and of its part? */
bool traced_path_fits(const struct traced_path *path, const struct attachment *attachment);

/* -ENOMEM. */
int traced_path_add(struct traced_path *path, struct attachment *item);

/* Looks which files are there now, attaches to those that are new, and leaves those that nobody can
 * run any more. What cannot be is noted, see attachment_message.h. An error: one that is needed cannot be had. */
int traced_path_update(struct traced_path *path, const char *probe,
		       const struct file_finder *finder, struct error *error);

/* Is a file, a process or the kernel's room for a link waited for? */
bool traced_path_waits(const struct traced_path *path);

/* Links in use. */
size_t traced_path_links(const struct traced_path *path);

/* Detaches; the files stay known. */
void traced_path_undo(struct traced_path *path);

void traced_path_done(struct traced_path *path);

#endif
