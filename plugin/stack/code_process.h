/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CODE_PROCESS_H
#define EBPF_CODE_PROCESS_H

#include "bpf/lib/stack.h"
#include "helper/symbol.h"
#include "process_map.h"
#include "util/index.h"

#include <stdbool.h>

#define CODE_PROCESSES_MAX 1024

/* A program that a process runs. */
struct code_process {
	uint64_t began_ns, image;
	uint32_t pid;
	struct process_map map;
	uint64_t read_ns; /* when that was read, 0: not yet */
	bool has_looked;  /* for the map of what it has made */
	struct symbol_file made;
};

struct code_processes {
	struct file_reader *files; /* the caller's */
	struct code_process item[CODE_PROCESSES_MAX];
	uint32_t count;
	struct index index;
	size_t memory;      /* of all maps */
	uint64_t second_ns; /* in which so many were read */
	unsigned reads;
};

/* 0 or -ENOMEM. */
int code_processes_init(struct code_processes *processes, struct file_reader *files);

/* The number of the process of a record; INDEX_NONE: there are too many. */
uint32_t code_process_of(struct code_processes *processes, const struct stack_head *head);

/* Has the mappings of a process, as far as it lives: false, it has none that could be read. */
bool code_process_read(struct code_processes *processes, struct code_process *process);

/* The mapping that an address is in; those of the process are read, or, once a second, read again, if there is none so
 * far. NULL: it is unknown. */
const struct code_mapping *code_process_find(struct code_processes *processes,
					     struct code_process *process, uint64_t address);

/* Opens the map of the code that it has made, which must be its user's or root's. The file stays the
 * process's; NULL: there is none. */
const struct symbol_file *code_process_made(struct code_processes *processes,
					    struct code_process *process);

/* Forgets all of them. */
void code_processes_clear(struct code_processes *processes);

void code_processes_done(struct code_processes *processes);

#endif
