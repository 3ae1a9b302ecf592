/* SPDX-License-Identifier: MIT */
#ifndef EBPF_WORKER_H
#define EBPF_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_STUCK_MAX 16 /* helpers that wait at the same time, of each budget */

/* Files that do not answer use up a bound on stuck helpers. Each kind has its own, so that users
 * cannot use up that of root. */
enum file_share {
	FILE_OF_USERS,
	FILE_OF_PID_FILES,
	FILE_OF_ROOT, /* and of the plugin itself */
	FILE_SHARES,
};

/* A process that touches files for the daemon, and the process that starts it. */
struct file_reader {
	pid_t starter; /* forks the helpers; 0: not running */
	int starter_fd;
	int worker_fd;       /* -1: no helper runs */
	const char *symbols; /* path of ebpf-symbols, the caller's; NULL: where it is installed */
	struct {
		int fd; /* of a helper whose request is not finished */
		enum file_share share;
		uint64_t whose;
	} stuck[FILE_SHARES * FILE_STUCK_MAX];
	size_t stuck_count;
};

/* Prepares a helper; the first request starts its processes. */
#define FILE_READER_NONE                          \
	{                                         \
		.starter_fd = -1, .worker_fd = -1 \
	}
void file_reader_init(struct file_reader *helper);

/* Whom a request is charged to if the file does not answer: see struct file_request. */
struct worker_turn {
	enum file_share share;
	uint64_t whose;
};

/* Calls `ask` with the socket of a helper, and a second time with a new helper if the first one has
 * exited. ask returns 0; an error of the file itself; -EPIPE: the helper has exited or must not be
 * used again; -ETIMEDOUT: it does not reply in time, and is set aside. Returns the status of ask;
 * -ETIMEDOUT at once while an earlier request of the same owner is stuck; or -EBUSY: too many
 * helpers of this budget are stuck. */
int worker_ask(struct file_reader *helper, const struct worker_turn *charge,
	       int (*ask)(int worker, void *with), void *with);

/* Receives exactly this many bytes until end_ns of clock_ns(). -ETIMEDOUT; -EPIPE: the helper has
 * exited. */
int worker_receive(int fd, void *to, size_t size, uint64_t end_ns);

/* The same for one message, and the descriptor that comes with it, which the caller closes; -1:
 * none has come. */
int worker_receive_descriptor(int fd, void *to, size_t size, uint64_t end_ns, int *ret_fd);

/* Turns the errno that a helper has sent about a file into one that cannot be mistaken for a
 * failure of the helper: -EIO for those that worker_ask() gives a meaning. */
int worker_told(int status);

/* Ends the processes; the next request starts new ones. */
void file_reader_done(struct file_reader *helper);

#endif
