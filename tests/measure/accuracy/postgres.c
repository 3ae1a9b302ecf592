/* SPDX-License-Identifier: MIT */
/*
 * PostgreSQL's protocol, version 3, with simple queries by a user who is trusted, of
 * pgbench's tables: what its selects ask; one row, changed again and again; a sum of
 * many rows, which takes CPU time.
 */
#include "protocol.h"

#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ACCOUNTS 100000 /* as made by pgbench */
#define VARIETY 1000
#define SUMMED 30000 /* rows */
#define VERSION 0x30000
#define HEAD 5 /* type and 4 bytes of length, which includes these 4 */

static void put_number(char *out, uint32_t number)
{
	number = htonl(number);
	memcpy(out, &number, sizeof(number));
}

/* Length of a message with its head. */
static size_t length_of(const char *in)
{
	uint32_t number;

	memcpy(&number, in + 1, sizeof(number));
	return 1 + ntohl(number);
}

/* Wraps the text of a query, which is already in the buffer. */
static size_t put_query(char *out, int length)
{
	int text = length + 1;

	out[0] = 'Q';
	put_number(out + 1, 4 + text);
	return HEAD + text;
}

static size_t postgres_request(char *out, uint64_t number, const struct shape *shape)
{
	(void)shape;
	return put_query(out, sprintf(out + HEAD,
				      "SELECT abalance FROM pgbench_accounts WHERE aid = %u;",
				      (unsigned)(1 + scrambled(number) % ACCOUNTS)));
}

static size_t postgres_update(char *out, uint64_t number, const struct shape *shape)
{
	(void)shape;
	return put_query(out, sprintf(out + HEAD,
				      "UPDATE pgbench_branches SET bbalance = %u WHERE bid = 1;",
				      (unsigned)number));
}

static size_t postgres_sum(char *out, uint64_t number, const struct shape *shape)
{
	unsigned first = scrambled(number) % (ACCOUNTS - SUMMED);

	(void)shape;
	return put_query(out, sprintf(out + HEAD,
				      "SELECT sum(abalance) FROM pgbench_accounts "
				      "WHERE aid BETWEEN %u AND %u;",
				      first + 1, first + SUMMED));
}

/* Length up to the end of "ready for query". */
static long postgres_response(const char *in, size_t length)
{
	for (size_t at = 0; at + HEAD <= length;) {
		char type = in[at];

		if (type == 'E')
			return -1;
		at += length_of(in + at);
		if (type == 'Z')
			return length < at ? 0 : (long)at;
	}
	return 0;
}

static void postgres_greet(int fd)
{
	static const char who[] = "user\0postgres\0database\0postgres\0";
	char out[8 + sizeof(who)], in[4096];
	size_t length = 0;
	long status = 0;

	put_number(out, sizeof(out));
	put_number(out + 4, VERSION);
	memcpy(out + 8, who, sizeof(who));
	if (send(fd, out, sizeof(out), MSG_NOSIGNAL) != sizeof(out))
		err(1, "send");
	while (!status) {
		ssize_t n = recv(fd, in + length, sizeof(in) - length, 0);

		if (n <= 0)
			errx(1, "the server says nothing that is understood");
		length += n;
		status = postgres_response(in, length);
	}
	if (status < 0)
		errx(1, "the server refuses user postgres");
}

const struct protocol protocol_postgres = {
	.name = "postgres",
	.variety = VARIETY,
	.request = postgres_request,
	.response = postgres_response,
	.greet = postgres_greet,
};

const struct protocol protocol_postgres_update = {
	.name = "postgres-update",
	.variety = VARIETY,
	.request = postgres_update,
	.response = postgres_response,
	.greet = postgres_greet,
};

const struct protocol protocol_postgres_sum = {
	.name = "postgres-sum",
	.variety = VARIETY,
	.request = postgres_sum,
	.response = postgres_response,
	.greet = postgres_greet,
};
