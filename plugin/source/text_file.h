/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_FILE_H
#define EBPF_TEXT_FILE_H

#include "cgroup/service_cgroups.h"
#include "schema/file_tag.h"
#include "util/kernel_directory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_FILES_MAX 1024 /* of a table */
#define TEXT_OPEN_MAX 256   /* of all tables together */

/* A file that rows of a table come from. */
struct text_file {
	char *path;        /* below the root */
	const char *match; /* in `path`: what the asterisk matched; NULL: there is none */
	size_t match_length;
	uint32_t service; /* row of the service that the cgroup belongs to */
	struct group_key
		key; /* that the row was assigned for; GROUP_COMMAND: the row is of a Service block */
	uint64_t cgroup_inode; /* of its cgroup; 0: unknown */
	bool is_configured;    /* of a configured path: always listed */
	bool is_counted;       /* another file of the service includes its figures */
	bool begins_at_zero;   /* if files of cgroups do so at all */
	int fd;                /* -1: opened at each reading */
	uint64_t inode;        /* 0: it never existed */
	uint64_t number;    /* unique to this file: a new one of the same path has another number */
	bool is_new;        /* the file is another one than at the last reading */
	bool is_there;      /* found by the last update */
	uint64_t *previous; /* what it said last, kept by text_rows; freed with the file */
};

/* The files of a FILE tag. */
struct text_files {
	const struct file_tag *tag;
	bool by_service;
	struct service_cgroups *
		service_cgroups; /* of services whose cgroups are found; NULL: only configured ones */
	uint64_t generation;     /* of `service_cgroups`, when they were listed last */
	int root;                /* -1: there is no such file system */
	bool is_v1;
	struct text_file *file;
	size_t count, hint;
	uint64_t number;
};

/* Appends a file and takes ownership of `path`. NULL: errno says whether memory (ENOMEM; also if
 * path is NULL) or room (E2BIG) is missing. */
struct text_file *text_files_add(struct text_files *files, char *path);

/* Removes the files that the last update did not find. */
void text_files_drop_absent(struct text_files *files);

/* The next reading opens it again. */
void text_file_close(struct text_file *file);

/* The same, and what it says then counts as old. */
void text_file_forget(struct text_file *file);

/* Reads a file and returns its length. Errors of kernel_directory_open_file() and kernel_text_read(). A file of v1
 * is translated into the words of cgroup2. */
ssize_t text_file_read(struct text_files *files, struct text_file *file, struct kernel_text *text,
		       size_t most);

/* Does a text start with a number? A limit does, "max" does not. */
bool text_is_limit(const char *text, size_t length);

/* Has the file's cgroup the limit that the tag asks for? 1, 0, or errors of text_file_read().
 * Overwrites the text. */
int text_file_is_limited(const struct text_files *files, const struct text_file *file,
			 struct kernel_text *text);

/* Does the cgroup of a missing file exist? Then its controller is off. */
bool text_file_lacks_controller(const struct text_files *files, const struct text_file *file);

void text_files_done(struct text_files *files);

#endif
