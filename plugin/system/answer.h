/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ANSWER_H
#define EBPF_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define QUESTION_PATH_MAX 4096
#define QUESTION_NAME_MAX 512
#define FILE_OWNER_UNKNOWN ((uid_t)-1)

/* To a worker; the path and the name follow. */
struct question {
	enum { QUESTION_FILE, QUESTION_UPROBE, QUESTION_UPROBE_MULTI } kind;
	uint32_t path_length;
	uint32_t name_length; /* from here on of QUESTION_UPROBE: of a symbol, or PROVIDER:NAME */
	uint32_t is_marker;
	uint32_t index; /* of the marker's places; of QUESTION_UPROBE_MULTI: how many places */
	uint64_t offset;
	uint64_t config; /* of perf_event_open(2) */
	uint32_t pmu_type;
	uint32_t semaphore_shift; /* in config, where its offset begins */
	uint32_t flags;           /* of QUESTION_FILE: of open(2) */
	uint64_t size_max;
};

/* Before what a worker sends of a file: chunks follow, their size, then their bytes, where status
 * is 0. The last one has size 0, or a negative errno. */
struct file_status {
	int32_t status;
	uint32_t owner;
};

/* What step of opening an uprobe has failed. */
enum uprobe_step {
	UPROBE_ASK,    /* the worker */
	UPROBE_OPEN,   /* the file */
	UPROBE_SEARCH, /* the function in it, see elf_function(), elf_marker() and elf_has_code() */
	UPROBE_ATTACH  /* the kernel's: perf_event_open(2) */
};

/* From a worker, with the descriptor of the event if status is 0. */
struct uprobe_answer {
	int32_t status;
	uint32_t step;
};

/* Receives all of it; false: the other end has gone. */
bool socket_receive(int fd, void *to, size_t size);

/* Sends all of it; false: the other end has gone. */
bool socket_send(int fd, const void *from, size_t size);

/* The life of a worker, which ends when nobody listens any more. */
void answer_questions(int socket);

#endif
