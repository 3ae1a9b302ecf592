/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_HELPER_H
#define EBPF_FILE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_STUCK_MAX 16 /* helpers that wait at the same time, of each budget */

/* Files that do not answer use up a bound on stuck helpers. Each kind has its own, so that users
 * cannot use up that of root. */
enum file_budget {
	FILE_OF_USERS,
	FILE_OF_PID_FILES,
	FILE_OF_ROOT, /* and of the plugin itself */
	FILE_BUDGETS,
};

/* A process that touches files for the daemon, and the process that starts it. */
struct file_helper {
	pid_t starter; /* forks the helpers; 0: not running */
	int starter_fd;
	int helper_fd;       /* -1: no helper runs */
	const char *symbols; /* path of ebpf-symbols, the caller's; NULL: where it is installed */
	struct {
		int fd; /* of a helper whose request is not finished */
		enum file_budget budget;
		uint64_t owner;
	} stuck[FILE_BUDGETS * FILE_STUCK_MAX];
	size_t stuck_count;
};

/* Prepares a helper; the first request starts its processes. */
#define FILE_HELPER_NONE                          \
	{                                         \
		.starter_fd = -1, .helper_fd = -1 \
	}
void file_helper_init(struct file_helper *helper);

/* Whom a request is charged to if the file does not answer: see struct file_request. */
struct file_charge {
	enum file_budget budget;
	uint64_t owner;
};

/* Calls `ask` with the socket of a helper, and a second time with a new helper if the first one has
 * exited. ask returns 0; an error of the file itself; -EPIPE: the helper has exited or must not be
 * used again; -ETIMEDOUT: it does not reply in time, and is set aside. Returns the status of ask;
 * -ETIMEDOUT at once while an earlier request of the same owner is stuck; or -EBUSY: too many
 * helpers of this budget are stuck. */
int helper_ask(struct file_helper *helper, const struct file_charge *charge,
	       int (*ask)(int helper, void *with), void *with);

/* Receives exactly this many bytes until end_ns of clock_ns(). -ETIMEDOUT; -EPIPE: the helper has
 * exited. */
int helper_receive(int fd, void *to, size_t size, uint64_t end_ns);

/* The same for one message, and the descriptor that comes with it, which the caller closes; -1:
 * none has come. */
int helper_receive_descriptor(int fd, void *to, size_t size, uint64_t end_ns, int *ret_fd);

/* Turns the errno that a helper has sent about a file into one that cannot be mistaken for a
 * failure of the helper: -EIO for those that helper_ask() gives a meaning. */
int helper_file_error(int status);

/* Ends the processes; the next request starts new ones. */
void file_helper_done(struct file_helper *helper);

#endif
