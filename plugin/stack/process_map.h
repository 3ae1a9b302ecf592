/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROCESS_MAP_H
#define EBPF_PROCESS_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Where code of a process is in its memory. */
struct code_mapping {
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* of the begin, in the file */
	uint64_t device, inode;
	uint32_t path; /* where it begins in the paths */
	enum code_kind {
		CODE_OF_FILE,
		CODE_MADE,      /* by the process, while it runs */
		CODE_OF_KERNEL, /* [vdso] and its like: the path is the name */
	} kind;
};

/* All of a process, in the order of their addresses. */
struct process_map {
	struct code_mapping *mapping;
	size_t count, room;
	char *paths;
	size_t used, size;
};

/* Takes those that may be executed from the text of /proc/PID/maps, which is changed: so many at most. Lines
 * that are none are passed over. 0 or -ENOMEM, and ret_map is untouched. */
int process_map_parse(char *text, size_t most, struct process_map *ret_map);

/* The one that an address is in, NULL: none. */
const struct code_mapping *process_map_find(const struct process_map *map, uint64_t address);

/* Bytes of memory. */
size_t process_map_memory(const struct process_map *map);

void process_map_done(struct process_map *map);

#endif
