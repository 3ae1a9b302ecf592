/* SPDX-License-Identifier: MIT */
/*
 * The protocols of the measured services: how a request is written, and where its
 * response ends.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

struct shape {
	size_t size;   /* of what a request carries, in bytes */
	unsigned keys; /* that a request asks for, where there are keys */
};

struct protocol {
	const char *name;

	/* How many requests come first and once, to fill a store; and how many
	 * different ones come after that, again and again. */
	unsigned first, variety;

	/* Writes the request with this number. Returns its length. */
	size_t (*request)(char *out, uint64_t number, const struct shape *shape);

	/* Length of the response at the start of the input; 0: incomplete,
	 * -1: an error. */
	long (*response)(const char *in, size_t length);

	int datagrams;

	/* Logs in on a new connection, which is still blocking; may be NULL. Exits if the
	 * server refuses. */
	void (*greet)(int fd);
};

/* Protocols with their own files. */
extern const struct protocol protocol_dns, protocol_mysql, protocol_mysql_update, protocol_postgres,
	protocol_postgres_update, protocol_postgres_sum;

/* Returns NULL if there is no protocol of this name. */
const struct protocol *protocol_find(const char *name);

/* Gives different values for consecutive numbers. */
static inline uint64_t scrambled(uint64_t number)
{
	number *= 0x9E3779B97F4A7C15;
	return number ^ number >> 29;
}

/* Room for any request of this shape. */
#define REQUEST_ROOM(shape) ((shape)->size + 32 * (shape)->keys + 512)

#endif
