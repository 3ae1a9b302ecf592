/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CODE_PROCESS_H
#define EBPF_CODE_PROCESS_H

/* Processes whose stacks were seen, with their mappings. */

#include "bpf/lib/stack.h"
#include "helper/symbol_location.h"
#include "process_map.h"
#include "util/index.h"

#include <stdbool.h>

#define CODE_PROCESSES_MAX 1024

/* A process from one exec to the next. */
struct code_process {
	uint64_t began_ns, image;
	uint32_t pid;
	struct process_map map;
	uint64_t read_ns; /* when map was read; 0: not yet */
	bool is_searched; /* the map of generated code was searched */
	struct symbol_file made;
};

struct code_processes {
	struct file_helper *files; /* the caller's */
	struct code_process item[CODE_PROCESSES_MAX];
	uint32_t count;
	struct index index;
	size_t memory;      /* bytes of all maps */
	uint64_t second_ns; /* start of the second in which `reads` maps were read */
	unsigned reads;
};

/* 0 or -ENOMEM. */
int code_processes_init(struct code_processes *processes, struct file_helper *files);

/* The number of the process of a record, which is added if it is new; INDEX_NONE: there are too
 * many. */
uint32_t code_process_of(struct code_processes *processes, const struct stack_head *head);

/* Reads the mappings of a process once, if it still lives. false: there are none. */
bool code_process_read(struct code_processes *processes, struct code_process *process);

/* The mapping that an address is in. If there is none, the mappings are read again, once a second
 * at most. NULL: unknown. */
const struct code_mapping *code_process_find(struct code_processes *processes,
					     struct code_process *process, uint64_t address);

/* Opens the map that the process writes for perf of code that it generates. The map must belong to
 * its user or to root. The file stays the process's; NULL: there is none. */
const struct symbol_file *code_process_made(struct code_processes *processes,
					    struct code_process *process);

/* Forgets all processes. */
void code_processes_clear(struct code_processes *processes);

void code_processes_done(struct code_processes *processes);

#endif
