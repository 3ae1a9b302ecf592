/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ANSWER_H
#define EBPF_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define QUESTION_PATH_MAX 4096
#define QUESTION_DESCRIPTORS_MAX 4
#define FILE_OWNER_UNKNOWN ((uid_t)-1)

/* To a worker; the path follows, then the descriptors, each beside one byte. */
struct question {
	enum {
		QUESTION_FILE,
		QUESTION_OPEN,
		QUESTION_SYMBOLS,
		QUESTION_UPROBE,
		QUESTION_UPROBE_MULTI,
	} kind;
	uint32_t path_length;
	uint32_t descriptor_count;
	int32_t pid; /* of QUESTION_OPEN: whose path it is, 0: the daemon's; without a path: program */
	uint32_t count;  /* of QUESTION_UPROBE_MULTI: places */
	uint64_t offset; /* from here on of QUESTION_UPROBE: in the file */
	uint64_t config; /* of perf_event_open(2) */
	uint32_t pmu_type;
	uint32_t flags; /* of QUESTION_FILE: of open(2) */
	uint64_t size_max;
};

/* Before what a worker sends of a file: chunks follow, their size, then their bytes, where status
 * is 0. The last one has size 0, or a negative errno. */
struct file_status {
	int32_t status;
	uint32_t owner;
};

/* To QUESTION_OPEN, with the descriptor if status is 0. */
struct open_answer {
	int32_t status;
	uint32_t is_overlay;
	uint64_t device, inode, size, changed_ns;
};

/* To QUESTION_SYMBOLS: see confined_run(). The path is that of the program, which gets the descriptors. */
struct run_answer {
	int32_t status;
	int32_t ended;
};

/* To QUESTION_UPROBE and QUESTION_UPROBE_MULTI, with the descriptor of the event or link if status
 * is 0. */
struct uprobe_answer {
	int32_t status;
};

/* Receives all of it; false: the other end has gone. */
bool socket_receive(int fd, void *to, size_t size);

/* Sends all of it; false: the other end has gone. */
bool socket_send(int fd, const void *from, size_t size);

/* Answers to questions that come with descriptors, or are answered with one; false: nobody listens. */
bool answer_open(int socket, const struct question *question, const char *path);
bool answer_symbols(int socket, const char *program, const int *descriptors, size_t count);
bool answer_uprobe(int socket, const struct question *question, int file);

/* Is it a file system that a program provides, which may stop or lie (FUSE)? */
bool answer_is_foreign(int fd);

/* The life of a worker, which ends when nobody listens any more. */
void answer_questions(int socket);

#endif
