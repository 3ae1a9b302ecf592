/* SPDX-License-Identifier: MIT */
/* DNS over UDP (RFC 1035, 6891): the mail servers of a host of the zone "example.". */
#include "protocol.h"

#include <stdio.h>
#include <string.h>

#define HOSTS 1000 /* in the zone */
#define HEAD 12
#define RESPONSE_FLAG 0x80
#define ERROR_MASK 0x0f

static size_t put_label(char *out, const char *label)
{
	size_t length = strlen(label);

	out[0] = length;
	memcpy(out + 1, label, length);
	return 1 + length;
}

static size_t dns_request(char *out, uint64_t number, const struct shape *shape)
{
	static const char query_and_extension[HEAD] = { 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1 };
	static const char mail_internet[] = { 0, 0, 15, 0, 1 };
	static const char room_of_4096[] = { 0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0 };
	size_t length = HEAD;
	char host[20];

	(void)shape;
	snprintf(host, sizeof(host), "host%u", (unsigned)(scrambled(number) % HOSTS));
	memcpy(out, query_and_extension, HEAD);
	out[0] = number >> 8;
	out[1] = number;
	length += put_label(out + length, host);
	length += put_label(out + length, "example");
	memcpy(out + length, mail_internet, sizeof(mail_internet));
	length += sizeof(mail_internet);
	memcpy(out + length, room_of_4096, sizeof(room_of_4096));
	return length + sizeof(room_of_4096);
}

/* A response with at least one answer record. */
static long dns_response(const char *in, size_t length)
{
	int good =
		length > HEAD && in[2] & RESPONSE_FLAG && !(in[3] & ERROR_MASK) && (in[6] || in[7]);

	return good ? (long)length : -1;
}

const struct protocol protocol_dns = {
	.name = "dns",
	.variety = HOSTS,
	.request = dns_request,
	.response = dns_response,
	.datagrams = 1,
};
