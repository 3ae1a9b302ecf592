/* SPDX-License-Identifier: MIT */
/*
 * Reads from and writes to the socket of the plugin.
 */
#include "exchange.h"

#include <stdlib.h>
#include <unistd.h>

bool exchange_read(void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = read(SYMBOL_FD_SOCKET, at, size);

		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

void exchange_write(const void *from, size_t size)
{
	for (const char *at = from; size;) {
		ssize_t put = write(SYMBOL_FD_SOCKET, at, size);

		/* The plugin has closed the socket. */
		if (put <= 0)
			_exit(EXIT_FAILURE);
		at += put;
		size -= (size_t)put;
	}
}
