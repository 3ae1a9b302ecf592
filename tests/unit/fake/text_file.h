/* SPDX-License-Identifier: MIT */
/*
 * Files of kernel text without a list of them: only this file sets their members.
 */
#ifndef FAKE_TEXT_FILE_H
#define FAKE_TEXT_FILE_H

#include "plugin/source/text_files.h"

#include <stdlib.h>

/* A file of the service of a row; its values are counted from its first reading on. */
static inline struct text_file text_file_of(uint32_t service, uint64_t number)
{
	return (struct text_file){ .service = service, .number = number };
}

/* It is as old as its cgroup: its first reading is growth if its root's files begin at zero. */
static inline void set_begins_at_zero(struct text_file *file)
{
	file->begins_at_zero = true;
}

/* Whether another file was read under its path the last time. */
static inline void set_new(struct text_file *file, bool is_new)
{
	file->is_new = is_new;
}

static inline void text_file_done(struct text_file *file)
{
	free(file->previous);
}

/* Replaces the root of a list, by a descriptor that text_files_done() closes. */
static inline void set_files_root(struct text_files *files, int root)
{
	files->root = root;
}

/* Where services without Cgroup have their cgroups; the caller owns it. */
static inline void set_files_cgroups(struct text_files *files, struct service_cgroups *cgroups)
{
	files->service_cgroups = cgroups;
}

#endif
