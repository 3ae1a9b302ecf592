/* SPDX-License-Identifier: MIT */
/*
 * The helper process that touches files of others for the daemon: how it is started, what happens
 * if it does not reply. A path that a user controls may lead to a FIFO or to a file system of the
 * user's own (FUSE), and the command line of a process may be mapped from such a file: an open or
 * read can then wait for ever, and no signal ends the wait.
 *
 * A starter forks the helpers. It never touches a file itself, so it is small and never stuck. A
 * helper that does not reply is set aside, and ends when its request ends at last.
 */
#include "file_helper.h"

#include "descriptor.h"
#include "helper_process.h"
#include "util/clock.h"
#include "util/lock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE_MS 100
#define ATTEMPTS 3 /* of a request */
#define PATIENCE_MIN_NS (NS_PER_S / 10)

/* --- in the starter and helpers: forked from a program with threads, so system calls only --- */

/* Closes all descriptors but one, so that no link, map or pipe of the daemon outlives it, and
 * resets signal handlers. SIGUSR1 and SIGHUP are ignored: `pkill -USR1 collectd`, which flushes the
 * daemon, hits these processes, too. */
static int close_all_but(int fd)
{
	sigset_t none;

	for (int number = 1; number < SIGRTMAX; number++)
		signal(number, number == SIGUSR1 || number == SIGHUP ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(fd, 0);
	close_range(1, ~0U, 0);
	return 0;
}

static void run_starter(int socket)
{
	socket = close_all_but(socket);
	signal(SIGCHLD, SIG_IGN); /* the kernel reaps helpers */
	for (;;) {
		int fd = descriptor_receive_one(socket);

		if (fd < 0)
			_exit(0);
		if (fork() == 0)
			helper_serve(close_all_but(fd));
		close(fd);
	}
}

/* --- in the daemon --- */

void file_helper_init(struct file_helper *helper)
{
	*helper = (struct file_helper)FILE_HELPER_NONE;
}

static int start_starter(struct file_helper *helper)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		run_starter(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	helper->starter = pid;
	helper->starter_fd = ends[0];
	return 0;
}

static void stop_starter(struct file_helper *helper)
{
	if (!helper->starter)
		return;
	close(helper->starter_fd);
	/* collectd's exec plugin reaps any child, so the pid may be another process's by now. */
	if (waitpid(helper->starter, NULL, WNOHANG) == 0) {
		kill(helper->starter, SIGKILL);
		while (waitpid(helper->starter, NULL, 0) < 0 && errno == EINTR)
			;
	}
	helper->starter = 0;
	helper->starter_fd = -1;
}

static int send_socket(int starter, int socket)
{
	return descriptor_send(starter, "", 1, MSG_DONTWAIT, socket) == 1 ? 0 : -EPIPE;
}

static int start_helper(struct file_helper *helper)
{
	int ends[2], status = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!helper->starter)
			status = start_starter(helper);
		if (status == 0)
			status = send_socket(helper->starter_fd, ends[1]);
		if (status == 0)
			break;
		/* The starter was killed or stopped: start another one. */
		stop_starter(helper);
		status = attempt ? status : 0;
	}
	close(ends[1]);
	if (status)
		close(ends[0]);
	else
		helper->helper_fd = ends[0];
	return status;
}

static void drop_helper(struct file_helper *helper)
{
	close(helper->helper_fd);
	helper->helper_fd = -1;
}

static void set_stuck_count(struct file_helper *helper, size_t count)
{
	__atomic_store_n(&helper->stuck_count, count, __ATOMIC_RELAXED);
}

size_t file_helper_stuck(const struct file_helper *helper)
{
	return __atomic_load_n(&helper->stuck_count, __ATOMIC_RELAXED);
}

/* What a helper that was set aside still sends is read and discarded. It may go on to wait after
 * that, so only its end counts. */
static bool has_ended(int fd)
{
	char bytes[4096];
	ssize_t got;

	do
		got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	while (got > 0);
	return got == 0 || errno != EAGAIN;
}

void file_helper_refresh(struct file_helper *helper)
{
	for (size_t i = 0; i < helper->stuck_count;) {
		if (has_ended(helper->stuck[i].fd)) {
			close(helper->stuck[i].fd);
			helper->stuck[i] = helper->stuck[helper->stuck_count - 1];
			set_stuck_count(helper, helper->stuck_count - 1);
		} else {
			i++;
		}
	}
}

static bool is_stuck(const struct file_helper *helper, uint64_t owner)
{
	for (size_t i = 0; i < helper->stuck_count; i++)
		if (helper->stuck[i].charge.owner == owner)
			return true;
	return false;
}

static bool is_budget_used_up(const struct file_helper *helper, const struct file_charge *charge)
{
	size_t count = 0, of_user = 0;

	for (size_t i = 0; i < helper->stuck_count; i++) {
		const struct file_charge *other = &helper->stuck[i].charge;

		count += other->budget == charge->budget;
		of_user += other->budget == charge->budget && other->user == charge->user;
	}
	return count >= FILE_STUCK_MAX || (charge->user && of_user >= FILE_STUCK_USER_MAX);
}

/* The helper ends by itself when its request has ended at last, as no other one can come. */
static void set_helper_aside(struct file_helper *helper, const struct file_charge *charge)
{
	shutdown(helper->helper_fd, SHUT_WR);
	helper->stuck[helper->stuck_count].fd = helper->helper_fd;
	helper->stuck[helper->stuck_count].charge = *charge;
	set_stuck_count(helper, helper->stuck_count + 1);
	helper->helper_fd = -1;
}

static bool is_given_up(const struct file_helper *helper)
{
	return helper->meanwhile && helper->meanwhile(helper->meanwhile_of);
}

int helper_wait(struct file_helper *helper, int fd, short events, uint64_t end_ns)
{
	struct pollfd ready = { .fd = fd, .events = events };

	lock_assert_none("waiting for a helper process");
	for (;;) {
		uint64_t now = clock_ns();
		uint64_t left_ms = now < end_ns ? (end_ns - now) / 1000000 + 1 : 0;

		if (is_given_up(helper))
			return -ECANCELED;
		/* Also after the end: what was done meanwhile may have lasted long. */
		if (poll(&ready, 1, (int)(left_ms < SLICE_MS ? left_ms : SLICE_MS)) > 0)
			return 0;
		if (left_ms == 0)
			return -ETIMEDOUT;
	}
}

static uint64_t wait_max(const struct file_helper *helper, unsigned wait_ms)
{
	uint64_t wait_ns = wait_ms * 1000000ULL;
	uint64_t patience_ns =
		helper->patience_ns > PATIENCE_MIN_NS ? helper->patience_ns : PATIENCE_MIN_NS;

	return wait_ns < patience_ns ? wait_ns : patience_ns;
}

static void use_patience(struct file_helper *helper, uint64_t waited_ns)
{
	if (helper->patience_ns != UINT64_MAX)
		helper->patience_ns -=
			waited_ns < helper->patience_ns ? waited_ns : helper->patience_ns;
}

int helper_file_error(int status)
{
	return helper_may_reply_later(status) || status == -EPIPE ? -EIO : status;
}

int helper_ask(struct file_helper *helper, const struct file_charge *charge, unsigned wait_ms,
	       int (*ask)(struct file_helper *helper, uint64_t end_ns, void *with), void *with)
{
	int status = -EPIPE;
	uint64_t begin_ns, end_ns;

	lock_assert_none("a request to a helper process");
	file_helper_refresh(helper);
	/* No helper is started for a request that would be given up at once. */
	if (is_given_up(helper))
		return -ECANCELED;
	if (is_stuck(helper, charge->owner))
		return -ETIMEDOUT;
	if (is_budget_used_up(helper, charge))
		return -EBUSY;
	begin_ns = clock_ns();
	end_ns = begin_ns + wait_max(helper, wait_ms);
	/* Again: the helper may have been killed, and so may the starter, which still takes a request
	 * while it exits. */
	for (int attempt = 0; attempt < ATTEMPTS && status == -EPIPE; attempt++) {
		status = helper->helper_fd < 0 ? start_helper(helper) : 0;
		status = status ?: ask(helper, end_ns, with);
		if (status == -EPIPE && helper->helper_fd >= 0)
			drop_helper(helper);
	}
	if (status == -ETIMEDOUT || status == -ECANCELED)
		set_helper_aside(helper, charge);
	else if (status == -ENOMEM && helper->helper_fd >= 0)
		drop_helper(helper);
	if (status == -ETIMEDOUT)
		use_patience(helper, clock_ns() - begin_ns);
	return status;
}

void file_helper_done(struct file_helper *helper)
{
	if (helper->helper_fd >= 0)
		drop_helper(helper);
	for (size_t i = 0; i < helper->stuck_count; i++)
		close(helper->stuck[i].fd);
	set_stuck_count(helper, 0);
	stop_starter(helper);
}
