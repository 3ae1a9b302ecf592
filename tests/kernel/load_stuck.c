/* SPDX-License-Identifier: MIT */
/*
 * A server with a thread for each connection, which some requests block for ever.
 *
 * load_stuck FILE PORT   says {"port"} of its own. A request is one byte:
 *         e   has the same byte as its response
 *         l   waits for a lock of FILE
 *         u   sends the byte to a server at PORT and waits for its response
 *     ASIDE further threads wait for the same lock without a request.
 */
#include "load.h"
#include "loopback.h"

#include <pthread.h>
#include <sys/file.h>

#define ASIDE 2
#define BACKLOG 32

static const char *path;
static struct sockaddr_in upstream = { .sin_family = AF_INET };

static int locked_file(void)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || flock(fd, LOCK_EX))
		err(1, "%s", path);
	return fd;
}

static void ask_upstream(char c)
{
	int fd = loopback_connect(&upstream);

	if (send(fd, &c, 1, 0) == 1)
		recv(fd, &c, 1, 0);
	close(fd);
}

static void *wait_aside(void *unused)
{
	close(locked_file());
	return unused;
}

static void *serve(void *connection)
{
	int fd = (int)(intptr_t)connection;
	char c;

	while (recv(fd, &c, 1, 0) == 1) {
		if (c == 'l')
			close(locked_file());
		else if (c == 'u')
			ask_upstream(c);
		send(fd, &c, 1, MSG_NOSIGNAL);
	}
	close(fd);
	return NULL;
}

static void start(void *(*run)(void *), int fd)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(intptr_t)fd))
		err(1, "pthread_create");
}

static void *accept_all(void *listener)
{
	for (;;)
		start(serve, accept((int)(intptr_t)listener, NULL, NULL));
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address;
	char line[32];
	int listener;

	die_with_parent();
	if (argc != 3)
		errx(2, "usage: load_stuck FILE PORT");
	path = argv[1];
	upstream.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	upstream.sin_port = htons(atoi(argv[2]));
	locked_file();
	listener = loopback_listen(BACKLOG, &address);
	for (int i = 0; i < ASIDE; i++)
		start(wait_aside, 0);
	start(accept_all, listener);
	snprintf(line, sizeof(line), "{\"port\": %d}\n", ntohs(address.sin_port));
	say(line);
	hear(line, sizeof(line));
	return 0;
}
