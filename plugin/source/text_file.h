/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_FILE_H
#define EBPF_TEXT_FILE_H

#include "cgroup/places.h"
#include "schema/file_tag.h"
#include "util/pseudo_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_FILES_MAX 1024 /* of a table */
#define TEXT_OPEN_MAX 256   /* of all tables, kept open from reading to reading */

/* A file that rows of a table are read from. */
struct text_file {
	char *path;        /* below the root */
	const char *match; /* in the path: what the asterisk stands for; NULL: nothing does */
	size_t match_length;
	uint32_t service; /* the row of the service whose cgroup's it is */
	struct group_key
		key; /* that the row was taken for; GROUP_COMMAND: it is a Service block's */
	uint64_t place_inode; /* of its cgroup; 0: it is not known */
	bool is_configured;   /* it is always in the list */
	bool is_counted;      /* what it says is in what another one of the service says */
	bool begins_at_zero;  /* where other files of cgroups do, too */
	int fd;               /* -1: is opened at each reading */
	uint64_t inode;       /* 0: it was never there */
	uint64_t number;      /* another file of this path, another number */
	bool is_new;          /* the one that was read last is not the one before */
	bool is_there;        /* of those that an asterisk stands for */
	uint64_t *previous;   /* what it said last, for who reads it; for free() */
};

/* Those of a FILE tag. */
struct text_files {
	const struct file_tag *tag;
	bool by_service;
	struct places *places; /* of services that find their names; NULL: only those with Cgroup */
	uint64_t generation;   /* of the places that it has */
	int root;              /* -1: there is no such file system */
	bool is_v1;
	struct text_file *file;
	size_t count, hint;
	uint64_t number;
};

/* One more, whose path becomes the list's; NULL: no memory, or no room, which errno tells. */
struct text_file *text_files_add(struct text_files *files, char *path);

/* Only those stay that are there. */
void text_files_drop_absent(struct text_files *files);

/* It is opened again at the next reading. */
void text_file_close(struct text_file *file);

/* Likewise, and what it says then was counted before. */
void text_file_forget(struct text_file *file);

/* Reads a file, how many bytes it has; as pseudo_open() and pseudo_read_at(). What v1 says is in
 * the words of cgroup2. */
ssize_t text_file_read(struct text_files *files, struct text_file *file, struct pseudo_text *text,
		       size_t most);

/* Does a text begin with a number, as that of a limit does where there is one? */
bool text_is_limit(const char *text, size_t length);

/* Has the cgroup of a file the limit that the tag wants? 1, 0, or as text_file_read(). The text is
 * overwritten. */
int text_file_is_limited(const struct text_files *files, const struct text_file *file,
			 struct pseudo_text *text);

/* Is the cgroup of a file there that is not? Then a controller is off. */
bool text_file_lacks_controller(const struct text_files *files, const struct text_file *file);

void text_files_done(struct text_files *files);

#endif
