/* SPDX-License-Identifier: MIT */
/*
 * Connections of one request each, whose first events are on two CPUs at once: both
 * sides ask for data without a rest. load_first tcp|unix NAME CPU CPU lets a child on
 * the first CPU serve, renames itself to NAME and is the client on the second; on each
 * line "N" it makes N connections and says {"requests"}.
 */
#include "load.h"
#include "loopback.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/un.h>

static socklen_t address_length;
static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_un un;
} address;

static int listen_at(const char *kind)
{
	int fd;

	if (!strcmp(kind, "tcp")) {
		address_length = sizeof(address.in);
		return loopback_listen(64, &address.in);
	}
	/* Autobind: the kernel chooses the name. */
	address.un.sun_family = AF_UNIX;
	address_length = sizeof(address.un);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, &address.any, sizeof(address.un.sun_family)) || listen(fd, 64) ||
	    getsockname(fd, &address.any, &address_length))
		err(1, "listen");
	return fd;
}

static bool receive(int fd)
{
	char byte;
	ssize_t n;

	do
		n = recv(fd, &byte, 1, MSG_DONTWAIT);
	while (n < 0 && errno == EAGAIN);
	if (n < 0 && errno != ECONNRESET)
		err(1, "recv");
	return n == 1;
}

static void give(int fd)
{
	if (send(fd, "x", 1, MSG_NOSIGNAL) != 1)
		err(1, "send");
}

static void serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			err(1, "accept");
		while (receive(fd))
			give(fd);
		close(fd);
	}
}

static void ask(void)
{
	int fd = socket(address.any.sa_family, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, &address.any, address_length))
		err(1, "connect");
	give(fd);
	if (!receive(fd))
		errx(1, "no answer");
	close(fd);
}

int main(int argc, char **argv)
{
	char line[100];
	int listener;

	die_with_parent();
	if (argc != 5)
		errx(2, "usage: load_first tcp|unix NAME CPU CPU");
	listener = listen_at(argv[1]);
	if (fork() == 0) {
		die_with_parent();
		stay_on_cpu(atoi(argv[3]));
		serve(listener);
	}
	stay_on_cpu(atoi(argv[4]));
	prctl(PR_SET_NAME, argv[2]);
	for (;;) {
		unsigned long count = strtoul(hear(line, sizeof(line)), NULL, 10);

		for (unsigned long i = 0; i < count; i++)
			ask();
		sprintf(line, "{\"requests\": %lu}\n", count);
		say(line);
	}
}
