/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_H
#define EBPF_FILE_H

/* Files that belong to others, read by a helper process so that the daemon never hangs. */

#include "file_helper.h"
#include "helper_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What to read, and how long to wait. */
struct file_request {
	const char *path;
	size_t size_max;  /* bytes */
	bool cut;         /* a longer file is cut off, not refused */
	bool follow;      /* the path may be a symbolic link */
	unsigned wait_ms; /* from open to the last byte */
	enum file_budget budget;
	uint64_t owner; /* while a file of this number is stuck, no other of it is tried */
};

struct file {
	char *bytes; /* the caller's, for free(); followed by a NUL */
	size_t size;
	uid_t owner; /* FILE_OWNER_UNKNOWN: on FUSE, whose program names any owner */
};

/* Reads a regular file. In addition to errors of open(2) and read(2): -EINVAL: it is not regular;
 * -ELOOP: it is a symbolic link; -EFBIG: it is larger than size_max; -ETIMEDOUT: it does not
 * answer; -EBUSY: too many files of this budget do not answer. A helper is used by one thread at a
 * time. */
int file_read(struct file_helper *helper, const struct file_request *request,
	      struct file *ret_file);

/* The number for `owner` of a file of root's: a hash of its path, above the numbers of users and
 * pid files. */
uint64_t file_number(const char *path);

/* Describes a status of file_read() for a message. */
const char *file_strerror(int status);

#endif
