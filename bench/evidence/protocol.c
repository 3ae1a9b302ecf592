/* SPDX-License-Identifier: MIT */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEYS 1000
#define SET_EVERY 10 /* requests */
#define WORDS 2000   /* of the search service, as search.cc has them */

static uint64_t scrambled(uint64_t number)
{
	number *= 0x9E3779B97F4A7C15;
	return number ^ number >> 29;
}

/* The first requests are what fills the store. */
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

static size_t memcached_request(char *out, uint64_t number, size_t size)
{
	unsigned key;

	if (!is_set(number, &key))
		return sprintf(out, "get key:%u\r\n", key);
	return put_value(out, sprintf(out, "set key:%u 0 0 %zu\r\n", key, size), size);
}

/* Length up to and with the end of line that follows `from`, 0: not there yet. */
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
	long head = line_end(in, 0, length);
	unsigned size;

	if (!head)
		return 0;
	if (!strncmp(in, "STORED", 6) || !strncmp(in, "END", 3))
		return head;
	if (sscanf(in, "VALUE %*s %*u %u", &size) != 1)
		return -1;
	return with_payload(head, size + strlen("\r\nEND\r\n"), length);
}

static size_t redis_request(char *out, uint64_t number, size_t size)
{
	char name[20];
	unsigned key;
	int set = is_set(number, &key), n = sprintf(name, "key:%u", key);

	if (!set)
		return sprintf(out, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", n, name);
	n = sprintf(out, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%zu\r\n", n, name, size);
	return put_value(out, n, size);
}

static long redis_response(const char *in, size_t length)
{
	long head = line_end(in, 0, length), size;

	if (!head)
		return 0;
	if (in[0] != '$')
		return in[0] == '+' ? head : -1;
	size = strtol(in + 1, NULL, 10);
	return size < 0 ? head : with_payload(head, size + strlen("\r\n"), length);
}

static size_t http_request(char *out, uint64_t number, size_t size)
{
	size_t head;

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

/* Two words: few of the search's words are in many of its documents. */
static size_t search_request(char *out, uint64_t number, size_t size)
{
	uint64_t chance = scrambled(number + 1);

	(void)size;
	return sprintf(out, "word%u word%u\n", (unsigned)(chance % WORDS),
		       (unsigned)(chance / WORDS % 50));
}

static long search_response(const char *in, size_t length)
{
	long head = line_end(in, 0, length);

	return head ? with_payload(head, atol(in), length) : 0;
}

const struct protocol *protocol_find(const char *name)
{
	static const struct protocol all[] = {
		{ "memcached", memcached_request, memcached_response },
		{ "redis", redis_request, redis_response },
		{ "http", http_request, http_response },
		{ "search", search_request, search_response },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}
