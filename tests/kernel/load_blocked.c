/* SPDX-License-Identifier: MIT */
/*
 * Threads that are blocked for ever, each in the way that its name says. A thread that has a request in
 * hand has the prefix hNN_: descriptor 500 + NN is the socket of that request. With the prefix lNN_
 * the request is later than all children. n_stopped, n_traced, those to be frozen and
 * those that wait again after a stop are processes.
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

/* --- children --- */

/* Returns the end of a pipe to read what a new child writes. */
static int output_of_child(void)
{
	int fd[2];

	(void)!pipe(fd);
	make_child(fd[1]);
	return fd[0];
}

static void by_pipe_of_child(void)
{
	own_fd(17, connected().server);
	read_one(output_of_child());
}

static void by_pipe_beside_child(void)
{
	own_fd(18, connected().server);
	read_one(output_of_child());
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

/* Opened before the fork, which may copy a mutex that another thread has locked. */
static int poll_again_fd;

static void poll_again(void)
{
	poll_one(poll_again_fd);
}

static void by_poll_again(void)
{
	poll_again_fd = connected().server;
	restarted(poll_again);
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

static void poll_two(int one, int two)
{
	struct pollfd pollfds[] = { { .fd = one, .events = POLLIN },
				    { .fd = two, .events = POLLIN } };

	poll(pollfds, 2, -1);
}

/* As Python's subprocess does. */
static void by_owned_poll_child(void)
{
	int nobody[2];

	own_fd(19, connected().server);
	(void)!pipe(nobody);
	poll_two(output_of_child(), nobody[0]);
}

static void by_owned_poll_beside_child(void)
{
	own_fd(20, connected().server);
	output_of_child();
	poll_one(connected().client);
}

static void by_owned_poll_earlier_child(void)
{
	own_fd(21, connected().server);
	poll_two(output_of_child(), connected().client);
}

/* The child has its parent's output, which another process reads. */
static void by_owned_poll_own_output(void)
{
	int fd[2], upstream = connected().client;

	own_fd(24, connected().server);
	(void)!pipe(fd);
	if (fork() == 0) {
		die_with_parent();
		dup2(fd[1], 1);
		make_child(1);
		poll_one(upstream);
	}
	prctl(PR_SET_NAME, "parent");
	read_one(fd[0]);
}

static void by_owned_inotify(void)
{
	own_fd(22, connected().server);
	by_inotify();
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

static void by_epoll_child(void)
{
	own_fd(23, connected().server);
	wait_in(watched_by(latch(), output_of_child()));
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
	{ "n_futex_timed", by_futex_timed },
	{ "n_cond_timed", by_condition_timed },
	{ "n_futex_waitv", by_futex_waitv },
	{ "n_semop_timed", by_semop_timed },
	{ "n_join", by_join },
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
	{ "n_waitid", by_waitid },
	{ "n_vfork", by_vfork },
	{ "h17_pipe_child", by_pipe_of_child },
	{ "l18_pipe_child", by_pipe_beside_child },
	{ "n_stopped", by_stop },
	{ "n_traced", by_trace },
	{ "n_sleep_again", by_nanosleep_again },
	{ "n_futex_again", by_futex_again },
	{ "n_poll_again", by_poll_again },
	{ "n_frozen", by_freezer },
	{ "n_frozen_v1", by_freezer },
	{ "n_sigwait", by_signal_wait },
	{ "n_msgrcv", by_msgrcv },
	{ "n_mq", by_mq },
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
	{ "h19_poll_child", by_owned_poll_child },
	{ "h20_poll_upstr", by_owned_poll_beside_child },
	{ "l21_poll_child", by_owned_poll_earlier_child },
	{ "h24_poll_output", by_owned_poll_own_output },
	{ "h22_inotify", by_owned_inotify },
	{ "n_io_uring", by_io_uring },
	{ "n_epoll", by_epoll },
	{ "h10_epoll_held", by_epoll_owned },
	{ "h11_epoll_latch", by_epoll_latch },
	{ "h12_epoll_up", by_epoll_upstream },
	{ "h13_epoll_lstn", by_epoll_listener },
	{ "h14_epoll_other", by_epoll_other },
	{ "h15_epoll_nest", by_epoll_nested },
	{ "h16_epoll_unix", by_epoll_unix },
	{ "h23_epoll_child", by_epoll_child },
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
