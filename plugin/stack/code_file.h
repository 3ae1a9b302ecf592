/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CODE_FILE_H
#define EBPF_CODE_FILE_H

#include "code_process.h"

#define CODE_FILES_MAX 4096
#define CODE_FILES_OPEN 128 /* at once */

/* A program or library that code is in. */
struct code_file {
	uint64_t device, inode; /* as mappings have them */
	char *path;             /* as the first process of it sees it */
	char *text;             /* "[NAME]" */
	struct symbol_file file;
	bool has_build_id; /* it has been asked for, and is this */
	uint8_t build_id[STACK_BUILD_ID_SIZE];
	bool failed; /* it cannot be read */
};

struct code_files {
	struct file_reader *files; /* the caller's */
	struct code_file item[CODE_FILES_MAX];
	uint32_t count, open;
	struct index index;
};

/* 0 or -ENOMEM. */
int code_files_init(struct code_files *files, struct file_reader *reader);

/* The number of the file of a mapping; INDEX_NONE: there are too many. */
uint32_t code_file_of(struct code_files *files, const struct process_map *map,
		      const struct code_mapping *mapping);

/* Opens it, unless it is open, as the process sees it, or by the mapping (NULL: it is not known) where that path leads
 * to another file. False: it cannot be opened, or too many are. */
bool code_file_open(struct code_files *files, struct code_file *file, uint32_t pid,
		    const struct code_mapping *mapping);

void code_files_close(struct code_files *files);
void code_files_clear(struct code_files *files);
void code_files_done(struct code_files *files);

#endif
