/* SPDX-License-Identifier: MIT */
/*
 * The helper process that touches files of others for the daemon, see file.c: how it is started,
 * what happens if it does not reply.
 *
 * A starter forks the helpers. It never touches a file itself, so it is small and never stuck. A
 * helper that does not reply is set aside, and ends when its request ends at last.
 */
#include "file_helper.h"

#include "descriptor.h"
#include "helper_process.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int start_helper(struct file_helper *helper)
{
	int ends[2], status = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!helper->starter)
			status = start_starter(helper);
		if (status == 0)
			status = descriptor_send(helper->starter_fd, "", 1, ends[1]) ? 0 : -EPIPE;
		if (status == 0)
			break;
		/* The starter was killed: start another one. */
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

/* Closes the sockets of set-aside helpers that have exited or replied at last; they then end. */
static void drop_unstuck_helpers(struct file_helper *helper)
{
	for (size_t i = 0; i < helper->stuck_count;) {
		struct pollfd reply = { .fd = helper->stuck[i].fd, .events = POLLIN };

		if (poll(&reply, 1, 0) > 0) {
			close(helper->stuck[i].fd);
			helper->stuck[i] = helper->stuck[--helper->stuck_count];
		} else {
			i++;
		}
	}
}

static bool is_stuck(const struct file_helper *helper, uint64_t owner)
{
	for (size_t i = 0; i < helper->stuck_count; i++)
		if (helper->stuck[i].owner == owner)
			return true;
	return false;
}

static bool is_budget_used_up(const struct file_helper *helper, enum file_budget budget)
{
	size_t count = 0;

	for (size_t i = 0; i < helper->stuck_count; i++)
		count += helper->stuck[i].budget == budget;
	return count >= FILE_STUCK_MAX;
}

static void set_helper_aside(struct file_helper *helper, const struct file_charge *charge)
{
	helper->stuck[helper->stuck_count].fd = helper->helper_fd;
	helper->stuck[helper->stuck_count].budget = charge->budget;
	helper->stuck[helper->stuck_count++].owner = charge->owner;
	helper->helper_fd = -1;
}

int helper_receive(int fd, void *to, size_t size, uint64_t end_ns)
{
	for (char *at = to; size;) {
		uint64_t now = clock_ns();
		struct pollfd reply = { .fd = fd, .events = POLLIN };
		int left_ms = now < end_ns ? (int)((end_ns - now) / 1000000) : 0;
		ssize_t got = recv(fd, at, size, MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (got > 0) {
			at += got;
			size -= (size_t)got;
		} else if (now >= end_ns) {
			return -ETIMEDOUT;
		} else if (errno == EAGAIN || errno == EINTR) {
			poll(&reply, 1, left_ms + 1);
		} else {
			return -errno;
		}
	}
	return 0;
}

int helper_receive_descriptor(int fd, void *to, size_t size, uint64_t end_ns, int *ret_fd)
{
	for (;;) {
		struct pollfd reply = { .fd = fd, .events = POLLIN };
		uint64_t now = clock_ns();
		ssize_t got = descriptor_receive(fd, to, size, MSG_DONTWAIT, ret_fd);

		if (got == (ssize_t)size)
			return 0;
		if (*ret_fd >= 0)
			close(*ret_fd);
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		if (now >= end_ns)
			return -ETIMEDOUT;
		poll(&reply, 1, (int)((end_ns - now) / 1000000) + 1);
	}
}

int helper_file_error(int status)
{
	return status == -ETIMEDOUT || status == -EPIPE || status == -EBUSY ? -EIO : status;
}

int helper_ask(struct file_helper *helper, const struct file_charge *charge,
	       int (*ask)(int helper, void *with), void *with)
{
	int status = -EPIPE;

	drop_unstuck_helpers(helper);
	if (is_stuck(helper, charge->owner))
		return -ETIMEDOUT;
	if (is_budget_used_up(helper, charge->budget))
		return -EBUSY;
	/* Twice: the helper may have been killed. */
	for (int attempt = 0; attempt < 2 && status == -EPIPE; attempt++) {
		status = helper->helper_fd < 0 ? start_helper(helper) : 0;
		status = status ?: ask(helper->helper_fd, with);
		if (status == -EPIPE && helper->helper_fd >= 0)
			drop_helper(helper);
	}
	if (status == -ETIMEDOUT)
		set_helper_aside(helper, charge);
	else if (status == -ENOMEM && helper->helper_fd >= 0)
		drop_helper(helper);
	return status;
}

void file_helper_done(struct file_helper *helper)
{
	if (helper->helper_fd >= 0)
		drop_helper(helper);
	for (size_t i = 0; i < helper->stuck_count; i++)
		close(helper->stuck[i].fd);
	helper->stuck_count = 0;
	stop_starter(helper);
}
