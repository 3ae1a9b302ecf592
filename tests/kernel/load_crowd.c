/* SPDX-License-Identifier: MIT */
/*
 * Servers with names of their own. load_crowd COUNT NAME USER starts so many, NAME0, NAME1 and so
 * on (of one: NAME), of this user, each with one connection to this process, their client. On each
 * line "N" it sends N requests to each of them, one after the other, and says how many were
 * answered: {"requests", "rx", "tx"}, as the servers see it.
 */
#include "load.h"
#include "loopback.h"

#include <signal.h>

#define REQUEST 40
#define RESPONSE 200
#define COUNT_MAX 1000

static char buffer[RESPONSE];

static void move_whole(ssize_t (*move)(int fd, void *bytes, size_t size, int flags), int fd,
		       size_t size)
{
	while (size) {
		ssize_t n = move(fd, buffer, size, 0);

		if (n <= 0)
			exit(0);
		size -= (size_t)n;
	}
}

static ssize_t send_some(int fd, void *bytes, size_t size, int flags)
{
	return send(fd, bytes, size, flags | MSG_NOSIGNAL);
}

static void serve(int listener, const char *name)
{
	int fd;

	die_with_parent();
	prctl(PR_SET_NAME, name);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	for (;;) {
		move_whole(recv, fd, REQUEST);
		move_whole(send_some, fd, RESPONSE);
	}
}

static int start(const char *name)
{
	struct sockaddr_in address;
	int listener = loopback_listen(1, &address), fd;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		serve(listener, name);
	fd = loopback_connect(&address);
	close(listener);
	return fd;
}

static void respond(const int *fd, int count, long requests)
{
	unsigned long all = (unsigned long)requests * (unsigned long)count;
	char line[128];

	for (int i = 0; i < count; i++)
		for (long n = 0; n < requests; n++) {
			move_whole(send_some, fd[i], REQUEST);
			move_whole(recv, fd[i], RESPONSE);
		}
	snprintf(line, sizeof(line), "{\"requests\": %lu, \"rx\": %lu, \"tx\": %lu}\n", all,
		 all * REQUEST, all * RESPONSE);
	say(line);
}

int main(int argc, char **argv)
{
	int fd[COUNT_MAX], count = argc > 3 ? atoi(argv[1]) : 0;
	char line[64];

	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: load_crowd COUNT NAME USER");
	die_with_parent();
	if (atoi(argv[3]) && setuid((uid_t)atoi(argv[3])))
		err(1, "setuid");
	die_with_parent(); /* setuid has reset it */
	for (int i = 0; i < count; i++) {
		snprintf(line, sizeof(line), count > 1 ? "%.11s%d" : "%.15s", argv[2], i);
		fd[i] = start(line);
	}
	for (;;)
		respond(fd, count, atol(hear(line, sizeof(line))));
}
