/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CODE_FILE_H
#define EBPF_CODE_FILE_H

/* Programs and libraries that code of stacks is in. */

#include "code_process.h"

#define CODE_FILES_MAX 4096
#define CODE_FILES_OPEN 128 /* files that are open at the same time */

/* A program or library. */
struct code_file {
	uint64_t device, inode; /* as in /proc/PID/maps */
	char *path;             /* as the first process with the file sees it */
	char *text;             /* "[NAME]" */
	struct symbol_file file;
	bool has_build_id; /* ebpf-symbols has said it: build_id is valid */
	uint8_t build_id[STACK_BUILD_ID_SIZE];
	bool failed; /* it could not be read, and is not tried again */
};

struct code_files {
	struct file_helper *files; /* the caller's */
	struct code_file item[CODE_FILES_MAX];
	uint32_t count, open;
	struct index index;
};

/* 0 or -ENOMEM. */
int code_files_init(struct code_files *files, struct file_helper *helper);

/* The number of the file of a mapping, which is added if it is new; INDEX_NONE: there are too
 * many. */
uint32_t code_file_of(struct code_files *files, const struct process_map *map,
		      const struct code_mapping *mapping);

/* Opens the file, unless it is open: by the mapping if that is known (else NULL), else by the path
 * as the process sees it. false: neither leads to it, or too many files are open. */
bool code_file_open(struct code_files *files, struct code_file *file, uint32_t pid,
		    const struct code_mapping *mapping);

void code_files_close(struct code_files *files);
void code_files_clear(struct code_files *files);
void code_files_done(struct code_files *files);

#endif
