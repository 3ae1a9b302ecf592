/* SPDX-License-Identifier: MIT */
/*
 * The process that touches files of others for the daemon, see file.c: how it begins, what it is
 * asked, and what happens when it does not answer.
 */
#include "worker.h"

#include "answer.h"
#include "descriptor.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- in the processes: forked from a program with threads, so system calls alone --- */

/* Keeps one descriptor, so that no link, map or pipe of the daemon's lives longer than it,
 * and no signal handler: `pkill -USR1 collectd` is to flush the daemon alone. */
static int leave_all_but(int fd)
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

static void start_workers(int socket)
{
	socket = leave_all_but(socket);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
	for (;;) {
		int fd = descriptor_receive_one(socket);

		if (fd < 0)
			_exit(0);
		if (fork() == 0)
			answer_questions(leave_all_but(fd));
		close(fd);
	}
}

/* --- in the daemon --- */

void file_reader_init(struct file_reader *reader)
{
	*reader = (struct file_reader)FILE_READER_NONE;
}

static int start_starter(struct file_reader *reader)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		start_workers(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	reader->starter = pid;
	reader->starter_fd = ends[0];
	return 0;
}

static void end_starter(struct file_reader *reader)
{
	if (!reader->starter)
		return;
	close(reader->starter_fd);
	/* collectd's plugin exec waits for any child: the number may be another process's by now. */
	if (waitpid(reader->starter, NULL, WNOHANG) == 0) {
		kill(reader->starter, SIGKILL);
		while (waitpid(reader->starter, NULL, 0) < 0 && errno == EINTR)
			;
	}
	reader->starter = 0;
	reader->starter_fd = -1;
}

static int start_worker(struct file_reader *reader)
{
	int ends[2], status = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!reader->starter)
			status = start_starter(reader);
		if (status == 0)
			status = descriptor_send(reader->starter_fd, "", 1, ends[1]) ? 0 : -EPIPE;
		if (status == 0)
			break;
		/* Somebody has killed it: another one. */
		end_starter(reader);
		status = attempt ? status : 0;
	}
	close(ends[1]);
	if (status)
		close(ends[0]);
	else
		reader->worker_fd = ends[0];
	return status;
}

static void drop_worker(struct file_reader *reader)
{
	close(reader->worker_fd);
	reader->worker_fd = -1;
}

/* A worker that has ended, or that answers at last, ends. */
static void drop_unstuck(struct file_reader *reader)
{
	for (size_t i = 0; i < reader->stuck_count;) {
		struct pollfd answers = { .fd = reader->stuck[i].fd, .events = POLLIN };

		if (poll(&answers, 1, 0) > 0) {
			close(reader->stuck[i].fd);
			reader->stuck[i] = reader->stuck[--reader->stuck_count];
		} else {
			i++;
		}
	}
}

static bool is_stuck(const struct file_reader *reader, uint64_t whose)
{
	for (size_t i = 0; i < reader->stuck_count; i++)
		if (reader->stuck[i].whose == whose)
			return true;
	return false;
}

static bool is_used_up(const struct file_reader *reader, enum file_share share)
{
	size_t count = 0;

	for (size_t i = 0; i < reader->stuck_count; i++)
		count += reader->stuck[i].share == share;
	return count >= FILE_STUCK_MAX;
}

static void set_aside(struct file_reader *reader, const struct worker_turn *turn)
{
	reader->stuck[reader->stuck_count].fd = reader->worker_fd;
	reader->stuck[reader->stuck_count].share = turn->share;
	reader->stuck[reader->stuck_count++].whose = turn->whose;
	reader->worker_fd = -1;
}

int worker_receive(int fd, void *to, size_t size, uint64_t end_ns)
{
	for (char *at = to; size;) {
		uint64_t now = clock_ns();
		struct pollfd answers = { .fd = fd, .events = POLLIN };
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
			poll(&answers, 1, left_ms + 1);
		} else {
			return -errno;
		}
	}
	return 0;
}

int worker_receive_descriptor(int fd, void *to, size_t size, uint64_t end_ns, int *ret_fd)
{
	for (;;) {
		struct pollfd answers = { .fd = fd, .events = POLLIN };
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
		poll(&answers, 1, (int)((end_ns - now) / 1000000) + 1);
	}
}

int worker_told(int status)
{
	return status == -ETIMEDOUT || status == -EPIPE || status == -EBUSY ? -EIO : status;
}

int worker_ask(struct file_reader *reader, const struct worker_turn *turn,
	       int (*ask)(int worker, void *with), void *with)
{
	int status = -EPIPE;

	drop_unstuck(reader);
	if (is_stuck(reader, turn->whose))
		return -ETIMEDOUT;
	if (is_used_up(reader, turn->share))
		return -EBUSY;
	/* Twice: somebody may have killed the worker. */
	for (int attempt = 0; attempt < 2 && status == -EPIPE; attempt++) {
		status = reader->worker_fd < 0 ? start_worker(reader) : 0;
		status = status ?: ask(reader->worker_fd, with);
		if (status == -EPIPE && reader->worker_fd >= 0)
			drop_worker(reader);
	}
	if (status == -ETIMEDOUT)
		set_aside(reader, turn);
	else if (status == -ENOMEM && reader->worker_fd >= 0)
		drop_worker(reader);
	return status;
}

void file_reader_done(struct file_reader *reader)
{
	if (reader->worker_fd >= 0)
		drop_worker(reader);
	for (size_t i = 0; i < reader->stuck_count; i++)
		close(reader->stuck[i].fd);
	reader->stuck_count = 0;
	end_starter(reader);
}
