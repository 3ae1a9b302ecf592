/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_H
#define EBPF_FILE_H

#include "helper_message.h"
#include "worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What to read, and how long to wait for it. */
struct file_request {
	const char *path;
	size_t size_max;  /* bytes */
	bool cut;         /* what is longer is cut, not refused */
	bool follow;      /* the path may be a symbolic link */
	unsigned wait_ms; /* from open to end of file */
	enum file_share share;
	uint64_t whose; /* what does not answer is not asked again while others of
			   * the same number are waited for */
};

struct file {
	char *bytes; /* the caller's, for free(); a NUL follows them */
	size_t size;
	uid_t owner; /* FILE_OWNER_UNKNOWN: of FUSE, where a program says whose it is */
};

/* Reads a regular file. Beside errors of open(2) and read(2): -EINVAL: it is no
 * regular file; -ELOOP: a symbolic link; -EFBIG: larger than size_max;
 * -ETIMEDOUT: it does not answer; -EBUSY: as many as can be waited for, of this
 * share, do not answer. Of one thread at a time. */
int file_read(struct file_reader *reader, const struct file_request *request,
	      struct file *ret_file);

/* What to say in `whose` of a file of root's: each path is waited for by itself. Above the numbers
 * of users and pid files. */
uint64_t file_number(const char *path);

/* What file_read has returned, in words. */
const char *file_strerror(int status);

#endif
