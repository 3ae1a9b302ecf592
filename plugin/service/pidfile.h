/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PIDFILE_H
#define EBPF_PIDFILE_H

#include "config/config.h"
#include "helper/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PID_FILE_TOLD_MAX 8

/* What a PidFile said when it was read last. */
struct pid_file {
	const char *service; /* name of its block */
	const char *path;
	uint32_t row;                /* of the service */
	uint32_t pid;                /* 0: none */
	uid_t owner;                 /* of the file */
	bool read;                   /* it was, once */
	bool fitted;                 /* the process in it was there, since the start */
	bool doubted;                /* somebody else's process is in it, which was told */
	int told[PID_FILE_TOLD_MAX]; /* what kept it from being read, each once */
};

struct pid_files {
	struct pid_file *item;
	size_t count;
};

/* Those of all Service blocks, whose strings stay theirs; -ENOMEM. */
int pid_files_init(struct pid_files *files, const struct config *config);

/* Reads all; true if one names another process than before. Tells once of each
 * what keeps it from being read. */
bool pid_files_read(struct pid_files *files, struct file_reader *reader);

/* The row of the first service with a file that names this process, or 0. A file
 * that is not root's is believed only of processes of the same user. */
uint32_t pid_files_match(struct pid_files *files, uint32_t pid, uid_t uid);

/* Has a process been found by the file of this path? Is it told why not? */
bool pid_files_have_fitted(const struct pid_files *files, const char *path);
bool pid_files_have_told(const struct pid_files *files, const char *path);

void pid_files_done(struct pid_files *files);

/* The number that a text begins with, as pid files have it; -EBADMSG: there is none. */
int pid_parse(const char *text, uint32_t *ret_pid);

#endif
