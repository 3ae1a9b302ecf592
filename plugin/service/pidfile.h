/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PIDFILE_H
#define EBPF_PIDFILE_H

#include "config/config.h"
#include "helper/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PID_FILE_LOGGED_MAX 8

/* The contents of a PidFile at its last read. */
struct pid_file {
	const char *service; /* name of its block */
	const char *path;
	uint32_t row;                    /* of the service */
	uint32_t pid;                    /* 0: none */
	uid_t owner;                     /* of the file */
	bool read;                       /* it could be read once */
	bool fitted;                     /* the process in it existed once, since the start */
	bool doubted;                    /* it names a process of another user; logged */
	uint64_t late_ns;                /* since when it has been late; 0: it is not */
	int logged[PID_FILE_LOGGED_MAX]; /* errors of reading it, each logged once */
};

struct pid_files {
	struct pid_file *item;
	size_t count;
};

/* The pid files of all Service blocks; their strings stay the configuration's. -ENOMEM. */
int pid_files_init(struct pid_files *files, const struct config *config);

/* Reads all files; true if one names another process than before. Each error of a file is
 * logged once, lateness when it is late again. */
bool pid_files_read(struct pid_files *files, struct file_helper *helper);

/* The row of the first service with a file that names this process, or 0. A file that root does not own
 * counts only for processes of the file's owner. */
uint32_t pid_files_match(struct pid_files *files, uint32_t pid, uid_t uid);

/* Has the file of this path named an existing process, or was it logged why not? */
bool pid_files_have_fitted(const struct pid_files *files, const char *path);
bool pid_files_have_logged(const struct pid_files *files, const char *path);

void pid_files_done(struct pid_files *files);

/* Parses the number at the start of a text, as pid files have it; -EBADMSG: there is none. */
int pid_parse(const char *text, uint32_t *ret_pid);

#endif
