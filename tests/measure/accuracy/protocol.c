/* SPDX-License-Identifier: MIT */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEYS 1000
#define SET_EVERY 10 /* requests */
#define WORDS 2000   /* of the search service, as in search.cc */

/* The first requests fill the store. */
static int is_set(uint64_t number, unsigned *ret_key)
{
	*ret_key = number < KEYS ? number : scrambled(number) % KEYS;
	return number < KEYS || number % SET_EVERY == 0;
}

static size_t put_value(char *out, size_t length, size_t size)
{
	memset(out + length, 'x', size);
	memcpy(out + length + size, "\r\n", 2);
	return length + size + 2;
}

static size_t memcached_request(char *out, uint64_t number, const struct shape *shape)
{
	size_t size = shape->size, length;
	unsigned key;

	if (is_set(number, &key))
		return put_value(out, sprintf(out, "set key:%u 0 0 %zu\r\n", key, size), size);
	length = sprintf(out, "get");
	for (unsigned i = 0; i < shape->keys; i++)
		length += sprintf(out + length, " key:%u", (key + i) % KEYS);
	return length + sprintf(out + length, "\r\n");
}

/* Length up to the end of the line at `from`, including it; 0: incomplete. */
static long line_end(const char *in, size_t from, size_t length)
{
	const char *end = from < length ? memchr(in + from, '\n', length - from) : NULL;

	return end ? end - in + 1 : 0;
}

static long with_payload(long head, size_t payload, size_t length)
{
	return length < head + payload ? 0 : (long)(head + payload);
}

static long memcached_response(const char *in, size_t length)
{
	static const char end[] = "\r\nEND\r\n";
	long head = line_end(in, 0, length);

	if (!head)
		return 0;
	if (!strncmp(in, "STORED", 6) || !strncmp(in, "END", 3))
		return head;
	if (strncmp(in, "VALUE", 5))
		return -1;
	/* There is one request at a time, so the response ends where the input ends with this text. */
	return length > strlen(end) && !memcmp(in + length - strlen(end), end, strlen(end))
		       ? (long)length
		       : 0;
}

static size_t redis_request(char *out, uint64_t number, const struct shape *shape)
{
	unsigned key;
	size_t length;
	char name[20];

	if (is_set(number, &key)) {
		length = sprintf(name, "key:%u", key);
		length = sprintf(out, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n", length, name,
				 shape->size);
		return put_value(out, length, shape->size);
	}
	length = sprintf(out, "*%u\r\n$4\r\nMGET\r\n", 1 + shape->keys);
	for (unsigned i = 0; i < shape->keys; i++) {
		int n = sprintf(name, "key:%u", (key + i) % KEYS);

		length += sprintf(out + length, "$%d\r\n%s\r\n", n, name);
	}
	return length;
}

static long redis_response(const char *in, size_t length)
{
	long at = line_end(in, 0, length), parts;

	if (!at || in[0] == '+')
		return at;
	if (in[0] != '*')
		return -1;
	for (parts = atol(in + 1); parts > 0; parts--) {
		long head = line_end(in, at, length), size = head ? atol(in + at + 1) : 0;

		/* -1: there is no such key */
		at = head && size >= 0 ? with_payload(head, size + strlen("\r\n"), length) : head;
		if (!at)
			return 0;
	}
	return at;
}

static size_t http_request(char *out, uint64_t number, const struct shape *shape)
{
	size_t size = shape->size, head;

	(void)number;
	if (!size)
		return sprintf(out, "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
	head = sprintf(out,
		       "POST /infer HTTP/1.1\r\nHost: localhost\r\n"
		       "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
		       size);
	memset(out + head, 'x', size);
	return head + size;
}

static long http_response(const char *in, size_t length)
{
	static const char field[] = "\nContent-Length:";
	const char *end = memmem(in, length, "\r\n\r\n", 4);

	if (!end)
		return 0;
	if (strncmp(in, "HTTP/1.1 200", 12))
		return -1;
	for (const char *at = in; at < end; at++)
		if (!strncasecmp(at, field, strlen(field)))
			return with_payload(end + 4 - in, atol(at + strlen(field)), length);
	return -1;
}

/* Two words, because few words are in many documents. */
static size_t search_request(char *out, uint64_t number, const struct shape *shape)
{
	uint64_t chance = scrambled(number + 1);

	(void)shape;
	return sprintf(out, "word%u word%u\n", (unsigned)(chance % WORDS),
		       (unsigned)(chance / WORDS % 50));
}

static long search_response(const char *in, size_t length)
{
	long head = line_end(in, 0, length);

	return head ? with_payload(head, atol(in), length) : 0;
}

static const struct protocol own[] = {
	{ "memcached", KEYS, KEYS, memcached_request, memcached_response, 0, NULL },
	{ "redis", KEYS, KEYS, redis_request, redis_response, 0, NULL },
	{ "http", 0, 1, http_request, http_response, 0, NULL },
	{ "search", 0, WORDS, search_request, search_response, 0, NULL },
};

const struct protocol *protocol_find(const char *name)
{
	static const struct protocol *const others[] = {
		&protocol_dns,      &protocol_mysql,           &protocol_mysql_update,
		&protocol_postgres, &protocol_postgres_update, &protocol_postgres_sum,
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i].name, name))
			return &own[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i]->name, name))
			return others[i];
	return NULL;
}
