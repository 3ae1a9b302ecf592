/* SPDX-License-Identifier: MIT */
/*
 * What is asked of the services that are measured: one request, and where its
 * response ends.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

struct protocol {
	const char *name;

	/* Writes the request with this number; returns its length. `size` is that of
	 * what it carries, in bytes. */
	size_t (*request)(char *out, uint64_t number, size_t size);

	/* Length of the response at the begin of what has come, 0: not whole yet,
	 * -1: it says that something is wrong. */
	long (*response)(const char *in, size_t length);
};

/* NULL: there is none of this name. */
const struct protocol *protocol_find(const char *name);

/* Room for a request that carries `size` bytes. */
#define REQUEST_ROOM(size) ((size) + 512)

#endif
