/* SPDX-License-Identifier: MIT */
/*
 * Threads that are blocked for ever, each in the way that its name says. A thread that has a request in
 * hand has the prefix hNN_: descriptor 500 + NN is the socket of that request.
 *
 * load_blocked DIR   says {"threads": N} when all are blocked, and ends with its input. Those that
 *     wait for the disk work on files in DIR, each as often as it can.
 */
#include "blocking.h"
#include "loopback.h"

#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/un.h>

#define SOCKET_FD 500

static struct sockaddr_in address;
static int listener;

/* Both ends of a connection; the server's is accepted. */
struct pair {
	int client, server;
};

static struct pair connected(void)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct pair pair;

	pthread_mutex_lock(&one);
	pair.client = loopback_connect(&address);
	pair.server = accept(listener, NULL, NULL);
	pthread_mutex_unlock(&one);
	if (pair.server < 0)
		err(1, "accept");
	return pair;
}

static struct pair connected_unix(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct pair pair = { .client = socket(AF_UNIX, SOCK_STREAM, 0) };

	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "load_blocked.%ld",
		 syscall(SYS_gettid));
	if (bind(fd, (void *)&name, sizeof(name)) || listen(fd, 1) ||
	    connect(pair.client, (void *)&name, sizeof(name)))
		err(1, "unix");
	pair.server = accept(fd, NULL, NULL);
	return pair;
}

/* Gives the socket of a request in hand the descriptor that the thread's name stands for. */
static int own_fd(int number, int fd)
{
	if (dup2(fd, SOCKET_FD + number) < 0)
		err(1, "dup2");
	return fd;
}

/* --- sockets --- */

static void by_upstream(void)
{
	receive(connected().client);
}

static void by_upstream_unix(void)
{
	receive(connected_unix().client);
}

static void by_full_upstream(void)
{
	fill(connected().client);
}

/* A listening socket whose backlog is full: further connects get no response. */
static void by_connect(void)
{
	struct sockaddr_in full;

	loopback_listen(0, &full);
	for (int i = 0; i < 10; i++)
		loopback_connect(&full);
}

static void by_accept(void)
{
	struct sockaddr_in own;

	accept(loopback_listen(1, &own), NULL, NULL);
}

static void by_accepted(void)
{
	receive(connected().server);
}

static void by_accepted_unix(void)
{
	receive(connected_unix().server);
}

static void by_full_accepted(void)
{
	fill(connected().server);
}

static void by_owned(void)
{
	receive(own_fd(1, connected().server));
}

static void by_full_owned(void)
{
	fill(own_fd(2, connected().server));
}

static void by_other_accepted(void)
{
	own_fd(3, connected().server);
	receive(connected().server);
}

static void by_owned_upstream(void)
{
	own_fd(4, connected().server);
	receive(connected().client);
}

static void by_owned_futex(void)
{
	own_fd(5, connected().server);
	by_futex();
}

/* --- polls --- */

static void poll_one(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	poll(&pollfd, 1, -1);
}

static void by_poll(void)
{
	poll_one(connected().server);
}

static void by_owned_poll(void)
{
	poll_one(own_fd(6, connected().server));
}

static void by_owned_poll_other(void)
{
	own_fd(7, connected().server);
	poll_one(connected().client);
}

static void by_io_uring(void)
{
	struct io_uring_params params = {};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0)
		prctl(PR_SET_NAME, "no_io_uring");
	else
		syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	by_futex();
}

static int watched_by(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
	return set;
}

/* An epoll set that only has sources of wakeups, as for a latch. */
static int latch(void)
{
	int set = epoll_create1(0), fd[2];

	(void)!pipe(fd);
	socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
	watched_by(set, fd[0]);
	watched_by(set, signals());
	return watched_by(set, eventfd(0, 0));
}

static void wait_in(int set)
{
	struct epoll_event event;

	epoll_pwait(set, &event, 1, -1, NULL);
}

static void by_epoll(void)
{
	wait_in(watched_by(latch(), connected().server));
}

static void by_epoll_owned(void)
{
	wait_in(watched_by(latch(), own_fd(10, connected().server)));
}

static void by_epoll_latch(void)
{
	own_fd(11, connected().server);
	wait_in(latch());
}

static void by_epoll_upstream(void)
{
	own_fd(12, connected().server);
	wait_in(watched_by(latch(), connected().client));
}

static void by_epoll_listener(void)
{
	struct sockaddr_in own;

	own_fd(13, connected().server);
	wait_in(watched_by(latch(), loopback_listen(1, &own)));
}

static void by_epoll_other(void)
{
	own_fd(14, connected().server);
	wait_in(watched_by(latch(), connected().server));
}

static void by_epoll_nested(void)
{
	int inner = watched_by(epoll_create1(0), own_fd(15, connected().server));

	wait_in(watched_by(latch(), inner));
}

static void by_epoll_unix(void)
{
	own_fd(16, connected_unix().server);
	wait_in(latch());
}

static const struct way {
	const char *name;
	void (*block)(void);
} ways[] = {
	{ "n_futex", by_futex },
	{ "n_flock", by_flock },
	{ "n_fcntl", by_fcntl },
	{ "n_semop", by_semop },
	{ "n_nanosleep", by_nanosleep },
	{ "n_clock_sleep", by_clock_nanosleep },
	{ "n_poll_none", by_poll_none },
	{ "n_select_none", by_select_none },
	{ "n_poll_pause", by_poll_pause },
	{ "n_pause", by_pause },
	{ "n_wait", by_wait },
	{ "n_msgrcv", by_msgrcv },
	{ "n_pipe", by_pipe },
	{ "n_full_pipe", by_full_pipe },
	{ "n_fifo", by_fifo },
	{ "n_socketpair", by_socketpair },
	{ "n_eventfd", by_eventfd },
	{ "n_timerfd", by_timerfd },
	{ "n_signalfd", by_signalfd },
	{ "n_inotify", by_inotify },
	{ "n_tty", by_tty },
	{ "n_upstream", by_upstream },
	{ "n_upstream_unix", by_upstream_unix },
	{ "n_full_upstream", by_full_upstream },
	{ "n_connect", by_connect },
	{ "n_accept", by_accept },
	{ "n_accepted", by_accepted },
	{ "n_accepted_unix", by_accepted_unix },
	{ "n_full_accepted", by_full_accepted },
	{ "h01_held", by_owned },
	{ "h02_full_held", by_full_owned },
	{ "h03_accepted", by_other_accepted },
	{ "h04_upstream", by_owned_upstream },
	{ "h05_futex", by_owned_futex },
	{ "n_poll", by_poll },
	{ "h06_poll", by_owned_poll },
	{ "h07_poll_other", by_owned_poll_other },
	{ "n_io_uring", by_io_uring },
	{ "n_epoll", by_epoll },
	{ "h10_epoll_held", by_epoll_owned },
	{ "h11_epoll_latch", by_epoll_latch },
	{ "h12_epoll_up", by_epoll_upstream },
	{ "h13_epoll_lstn", by_epoll_listener },
	{ "h14_epoll_other", by_epoll_other },
	{ "h15_epoll_nest", by_epoll_nested },
	{ "h16_epoll_unix", by_epoll_unix },
	{ "n_fsync", by_fsync },
	{ "n_direct", by_direct },
	{ "n_fault", by_fault },
};

#define WAYS (sizeof(ways) / sizeof(*ways))

static void *block(void *argument)
{
	const struct way *way = argument;

	if (prctl(PR_SET_NAME, way->name))
		err(1, "prctl");
	way->block();
	warnx("%s was not blocked for good", way->name);
	return NULL;
}

int main(int argc, char **argv)
{
	char line[10];

	die_with_parent();
	if (argc != 2)
		errx(2, "usage: load_blocked DIR");
	directory = argv[1];
	signal(SIGPIPE, SIG_IGN);
	if (unshare(CLONE_NEWIPC)) /* semaphores and queues would outlive a process that is killed */
		err(1, "unshare");
	listener = loopback_listen(8, &address);
	for (size_t i = 0; i < WAYS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, block, (void *)&ways[i]))
			err(1, "pthread_create");
	}
	sleep_ns(1000000000);
	printf("{\"threads\": %zu}\n", WAYS);
	fflush(stdout);
	hear(line, sizeof(line));
	return 0;
}
