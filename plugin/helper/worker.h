/* SPDX-License-Identifier: MIT */
#ifndef EBPF_WORKER_H
#define EBPF_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_STUCK_MAX 16 /* of each share */

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
	int worker_fd;       /* -1: there is none */
	const char *symbols; /* the program ebpf-symbols, the caller's; NULL: as it is installed */
	struct {
		int fd; /* of a worker that does not answer */
		enum file_share share;
		uint64_t whose;
	} stuck[FILE_SHARES * FILE_STUCK_MAX];
	size_t stuck_count;
};

/* A reader that is prepared, and of which nothing is started yet. */
#define FILE_READER_NONE                          \
	{                                         \
		.starter_fd = -1, .worker_fd = -1 \
	}
void file_reader_init(struct file_reader *reader);

/* Whose file the worker is asked for: see struct file_request. */
struct worker_turn {
	enum file_share share;
	uint64_t whose;
};

/* Has a worker asked by `ask`, which gets its socket; by another one again if it has ended. ask
 * returns 0, an error of the file's own, -EPIPE: the worker has ended or is asked no more,
 * -ETIMEDOUT: it does not answer. Returns that, or -EBUSY. */
int worker_ask(struct file_reader *reader, const struct worker_turn *turn,
	       int (*ask)(int worker, void *with), void *with);

/* Receives so many bytes; -ETIMEDOUT; -EPIPE: the worker has ended. */
int worker_receive(int fd, void *to, size_t size, uint64_t end_ns);

/* Likewise, as one message, and the descriptor that comes with it, which the caller closes; -1:
 * none has come. */
int worker_receive_descriptor(int fd, void *to, size_t size, uint64_t end_ns, int *ret_fd);

/* What a worker that goes on tells of a file: an error of the file's own, never one that says how the
 * worker is. */
int worker_told(int status);

/* Ends the process; a read starts another. */
void file_reader_done(struct file_reader *reader);

#endif
