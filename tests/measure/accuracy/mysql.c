/* SPDX-License-Identifier: MIT */
/*
 * The text protocol of MySQL and MariaDB: a row by its primary key, asked by a user
 * without password; or one row, changed again and again.
 */
#include "protocol.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ROWS 10000 /* in the table */
#define VARIETY 1000
#define HEAD 4 /* 3 bytes of length and the packet's number */
#define COMMAND_QUERY 3
#define LONGEST_END 9
#define CAPABILITIES \
	(0x1 | 0x200 | 0x8000 | 0x80000) /* long password, 4.1, its way to log in, plug-ins */

enum { IS_OK = 0, IS_END = 0xfe, IS_ERROR = 0xff };

static void put_head(char *out, size_t length, int number)
{
	out[0] = length;
	out[1] = length >> 8;
	out[2] = length >> 16;
	out[3] = number;
}

static size_t payload(const char *in)
{
	const unsigned char *head = (const unsigned char *)in;

	return head[0] | head[1] << 8 | head[2] << 16;
}

/* Wraps the text of a query, which is already in the buffer. */
static size_t put_query(char *out, int length)
{
	out[HEAD] = COMMAND_QUERY;
	put_head(out, 1 + length, 0);
	return HEAD + 1 + length;
}

static size_t mysql_request(char *out, uint64_t number, const struct shape *shape)
{
	(void)shape;
	return put_query(out,
			 sprintf(out + HEAD + 1, "SELECT pad FROM evidence.items WHERE id = %u",
				 (unsigned)(1 + scrambled(number) % ROWS)));
}

static size_t mysql_update(char *out, uint64_t number, const struct shape *shape)
{
	(void)shape;
	return put_query(out, sprintf(out + HEAD + 1,
				      "UPDATE evidence.items SET pad = '%u' WHERE id = 1",
				      (unsigned)number));
}

/* Columns, EOF, rows, EOF; a single packet if there are no rows. */
static long mysql_response(const char *in, size_t length)
{
	int ends = 0;

	for (size_t at = 0; at + HEAD < length;) {
		size_t size = payload(in + at);
		unsigned char first = in[at + HEAD];

		if (first == IS_ERROR)
			return -1;
		if (first == IS_OK && !at)
			return length < HEAD + size ? 0 : (long)(HEAD + size);
		at += HEAD + size;
		ends += first == IS_END && size < LONGEST_END;
		if (ends == 2)
			return length < at ? 0 : (long)at;
	}
	return 0;
}

static void receive_packet(int fd, char *in, size_t room)
{
	size_t size;

	if (recv(fd, in, HEAD, MSG_WAITALL) != HEAD || (size = payload(in)) + HEAD > room ||
	    recv(fd, in + HEAD, size, MSG_WAITALL) != (ssize_t)size)
		errx(1, "the server says nothing that is understood");
}

static void mysql_greet(int fd)
{
	static const char user[] = "root", plugin[] = "mysql_native_password";
	static const unsigned capabilities = CAPABILITIES;
	char in[1024], out[HEAD + 128] = { 0 }, *at = out + HEAD;

	receive_packet(fd, in, sizeof(in));
	memcpy(at, &capabilities, sizeof(capabilities));
	at += 32; /* the largest packet, the character set, nothing */
	memcpy(at, user, sizeof(user));
	at += sizeof(user) + 1; /* an empty response to the server's challenge */
	memcpy(at, plugin, sizeof(plugin));
	at += sizeof(plugin);
	put_head(out, at - out - HEAD, 1);
	if (send(fd, out, at - out, MSG_NOSIGNAL) != at - out)
		err(1, "send");
	receive_packet(fd, in, sizeof(in));
	if ((unsigned char)in[HEAD] != IS_OK)
		errx(1, "the server refuses user %s", user);
}

const struct protocol protocol_mysql = {
	.name = "mysql",
	.variety = VARIETY,
	.request = mysql_request,
	.response = mysql_response,
	.greet = mysql_greet,
};

const struct protocol protocol_mysql_update = {
	.name = "mysql-update",
	.variety = VARIETY,
	.request = mysql_update,
	.response = mysql_response,
	.greet = mysql_greet,
};
