/* SPDX-License-Identifier: MIT */
/*
 * A TCP server and its clients over loopback, at a free port.
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static inline int loopback_listen(int backlog, struct sockaddr_in *ret_address)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (void *)&address, length) || listen(fd, backlog) ||
	    getsockname(fd, (void *)&address, &length))
		err(1, "listen");
	*ret_address = address;
	return fd;
}

static inline int loopback_connect(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (connect(fd, (const void *)address, sizeof(*address)))
		err(1, "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

#endif
