/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_H
#define EBPF_FILE_H

/* Files that belong to others, read by a helper process so that the daemon never hangs. */

#include "helper_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What to read, and how long to wait. */
struct file_request {
	const char *path;
	size_t size_max;   /* bytes */
	bool cut;          /* a longer file is cut off, not refused */
	bool follow;       /* the path may be a symbolic link */
	bool is_directory; /* the names in a directory, each followed by a NUL */
	pid_t pid;         /* the process that sees the path, 0: the daemon */
	unsigned wait_ms;  /* from open to the last byte */
	enum file_budget budget;
	uint64_t owner; /* while a file of this number is stuck, no other of it is tried; 0:
			 * file_number() of the path */
	uid_t user;     /* whose file it is; 0: root's, or unknown */
	struct file_stamp unless;  /* it is not read if it still has this stamp */
	struct file_stream stream; /* gets the bytes, if it has a function */
};

/* Reads a regular file or lists a directory. Errors of helper_read(); -EFBIG: it is larger than
 * size_max; -EALREADY: it has the stamp of the request. A helper is used by one thread at a time. */
int file_read(struct file_helper *helper, const struct file_request *request,
	      struct file *ret_file);

/* The number for `owner` of a file: a hash of its path, never 0. */
uint64_t file_number(const char *path);

/* Describes a status of file_read() for a message. */
const char *file_strerror(int status);

#endif
