/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_HELPER_H
#define EBPF_FILE_HELPER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_STUCK_MAX 16     /* helpers that wait at the same time, of each budget */
#define FILE_STUCK_USER_MAX 4 /* and of files of one user */

/* Files that do not answer use up a bound on stuck helpers. Each kind has its own, so that users
 * cannot use up that of root, nor root's processes, which may be those of a container, that of the
 * plugin. */
enum file_budget {
	FILE_OF_USERS,
	FILE_OF_PID_FILES,
	FILE_OF_ROOT_PROCESSES,
	FILE_OF_ROOT, /* and of the plugin itself */
	FILE_BUDGETS,
};

/* A process that touches files for the daemon, and the process that starts it. Of one thread. */
struct file_helper {
	pid_t starter; /* forks the helpers; 0: not running */
	int starter_fd;
	int helper_fd;       /* -1: no helper runs */
	const char *symbols; /* path of ebpf-symbols, the caller's */
	struct {
		int fd; /* of a helper whose request is not finished */
		struct file_charge {
			enum file_budget budget;
			uint64_t owner; /* number of the file */
			uid_t user;     /* whose file it is; 0: root's, or unknown */
		} charge;
	} stuck[FILE_BUDGETS * FILE_STUCK_MAX];
	size_t stuck_count;

	/* How long requests may wait in total for files that do not answer. Each may still wait a
	 * tenth of a second. */
	uint64_t patience_ns;

	/* Called while a request waits, ten times a second at least; NULL: nothing is done
	 * meanwhile. It may use another helper, but not this one. true: the request is given up,
	 * as one that does not get its reply in time. */
	bool (*meanwhile)(void *of);
	void *meanwhile_of;
};

/* Prepares a helper, without a limit of its patience; the first request starts its processes. */
#define FILE_HELPER_NONE                                                                     \
	{                                                                                    \
		.starter_fd = -1, .helper_fd = -1, .symbols = "", .patience_ns = UINT64_MAX, \
	}
void file_helper_init(struct file_helper *helper);

/* Calls `ask` with the time of clock_ns() until which it may wait for the helper at helper_fd, and
 * twice more at most with a new helper if the one before has exited. ask returns 0; an error of the file
 * itself; -EPIPE: the helper has exited or must not be used again; -ETIMEDOUT: it does not reply in
 * time; -ECANCELED: `meanwhile` gives the request up. In the last two cases the helper is set aside.
 * Returns the status of ask; at once -ETIMEDOUT while an earlier request of the same owner is stuck,
 * or -ECANCELED; or -EBUSY: too many helpers of this budget, or for files of this user, are stuck.
 * Not to be called with a lock held. */
int helper_ask(struct file_helper *helper, const struct file_charge *charge, unsigned wait_ms,
	       int (*ask)(struct file_helper *helper, uint64_t end_ns, void *with), void *with);

/* Waits until the socket is ready to send (POLLOUT) or receive (POLLIN). This is all the waiting of
 * the daemon for its helpers. 0; -ETIMEDOUT; -ECANCELED: the request is given up. */
int helper_wait(struct file_helper *helper, int fd, short events, uint64_t end_ns);

/* Does the status of a request say nothing about the file, which may answer later? */
static inline bool helper_may_reply_later(int status)
{
	return status == -ETIMEDOUT || status == -ECANCELED || status == -EBUSY;
}

/* Turns the errno that a helper has sent about a file into one that cannot be mistaken for a
 * failure of the helper: -EIO for those that helper_ask() gives a meaning. */
int helper_file_error(int status);

/* Drops the helpers that were set aside and have ended since, as each request does. */
void file_helper_refresh(struct file_helper *helper);

/* How many helpers are set aside. Any thread. */
size_t file_helper_stuck(const struct file_helper *helper);

/* Ends the processes; the next request starts new ones. */
void file_helper_done(struct file_helper *helper);

#endif
