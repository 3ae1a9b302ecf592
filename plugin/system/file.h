/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_H
#define EBPF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_STUCK_MAX 16 /* of each share */
#define FILE_OWNER_UNKNOWN ((uid_t)-1)

/* Files that can use up, by not answering, what may be waited for of their own share alone. */
enum file_share {
	FILE_OF_USERS,
	FILE_OF_PID_FILES,
	FILE_OF_ROOT, /* and the plugin's own */
	FILE_SHARES,
};

/* A process that reads files for the plugin. */
struct file_reader {
	pid_t starter; /* forks the workers, 0: not running */
	int starter_fd;
	int worker_fd; /* -1: there is none */
	struct {
		int fd; /* of a worker that does not answer */
		enum file_share share;
		uint64_t whose;
	} stuck[FILE_SHARES * FILE_STUCK_MAX];
	size_t stuck_count;
};

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

/* A reader that is prepared, and of which nothing is started yet. */
#define FILE_READER_NONE                          \
	{                                         \
		.starter_fd = -1, .worker_fd = -1 \
	}
void file_reader_init(struct file_reader *reader);

/* Reads a regular file. Beside errors of open(2) and read(2): -EINVAL: it is no
 * regular file; -ELOOP: a symbolic link; -EFBIG: larger than size_max;
 * -ETIMEDOUT: it does not answer; -EBUSY: as many as can be waited for, of this
 * share, do not answer. Of one thread at a time. */
int file_read(struct file_reader *reader, const struct file_request *request,
	      struct file *ret_file);

/* What file_read has returned, in words. */
const char *file_strerror(int status);

/* Ends the process; a read starts another. */
void file_reader_done(struct file_reader *reader);

#endif
