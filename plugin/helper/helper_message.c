/* SPDX-License-Identifier: MIT */
/*
 * Whole messages over a stream socket. System calls only: a helper is forked from a program with
 * threads.
 */
#include "helper_message.h"

#include <errno.h>
#include <sys/socket.h>

bool socket_receive(int fd, void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = recv(fd, at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

bool socket_send(int fd, const void *from, size_t size)
{
	for (const char *at = from; size;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}
