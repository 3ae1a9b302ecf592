/* SPDX-License-Identifier: MIT */
/*
 * A server of one thread that sends each response in pieces, and its client, a child under another
 * command name.
 *
 * load_push   between two pieces the thread does what the last line from the test says:
 *                 events    waits in an epoll that watches the connection
 *                 sleep     sleeps
 *                 upstream  waits for another server
 *     It answers {"responses"}, those so far.
 */
#include "load.h"
#include "loopback.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>

#define PIECES 10
#define PAUSE_MS 10

static struct sockaddr_in address;

/* --- the server --- */

static int upstream_connected(void)
{
	struct timeval limit = { .tv_usec = PAUSE_MS * 1000 };
	static struct sockaddr_in silent;
	int fd;

	loopback_listen(1, &silent);
	fd = loopback_connect(&silent);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static int watching(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0);

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
	return set;
}

static void serve(int fd)
{
	int set = watching(fd), upstream = upstream_connected();
	struct epoll_event event;
	char how, c;

	while (recv(fd, &how, 1, 0) == 1)
		for (int i = 0; i < PIECES; i++) {
			if (i && how == 'e')
				epoll_wait(set, &event, 1, PAUSE_MS);
			else if (i && how == 's')
				sleep_ns(PAUSE_MS * 1000000);
			else if (i)
				recv(upstream, &c, 1, 0);
			if (send(fd, &how, 1, MSG_NOSIGNAL) != 1)
				err(1, "send");
		}
}

/* --- the client --- */

static char how = 's';
static uint32_t responses;

static void *ask(void *unused)
{
	int fd = loopback_connect(&address);
	char all[PIECES];

	for (;;) {
		char c = __atomic_load_n(&how, __ATOMIC_RELAXED);

		if (send(fd, &c, 1, 0) != 1 || recv(fd, all, PIECES, MSG_WAITALL) != PIECES)
			exit(1); /* the server has ended */
		__atomic_fetch_add(&responses, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void ask_all(void)
{
	pthread_t thread;
	char line[40];

	if (pthread_create(&thread, NULL, ask, NULL))
		err(1, "pthread_create");
	for (;;) {
		__atomic_store_n(&how, hear(line, sizeof(line))[0], __ATOMIC_RELAXED);
		sprintf(line, "{\"responses\": %u}\n",
			__atomic_load_n(&responses, __ATOMIC_RELAXED));
		say(line);
	}
}

int main(void)
{
	int listener = loopback_listen(1, &address);

	die_with_parent();
	if (fork() == 0) {
		die_with_parent();
		if (prctl(PR_SET_NAME, "push_client"))
			err(1, "prctl");
		ask_all();
	}
	serve(accept(listener, NULL, NULL));
	return 0;
}
