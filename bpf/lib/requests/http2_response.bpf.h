/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Classifies responses of HTTP/2. The first HEADERS of a response are compared as if the response
 * began with "HTTP/2 200", or with "HTTP/2 200 end" where HEADERS are all of it, as those of gRPC
 * are for a call that has failed before any message. The status is the first field of a header
 * block (RFC 9113, 8.3). It is known if it is an entry of HPACK's static table (RFC 7541, appendix
 * A) or is spelt out without Huffman's code; otherwise its three bytes are 0, which only a ?
 * matches.
 */
#ifndef HTTP2_RESPONSE_BPF_H
#define HTTP2_RESPONSE_BPF_H

#include "response.bpf.h"

#define HPACK_SIZE 16        /* bytes of a header block that are inspected */
#define HPACK_UPDATES_SIZE 8 /* bytes of table size updates, which come first */
#define HPACK_STATUS 8       /* first entry of the static table that is a status */
#define HPACK_STATUSES 7
#define HPACK_DIGITS 3 /* length of a status that is spelt out */

static const u16 hpack_statuses[HPACK_STATUSES] = { 200, 204, 206, 304, 400, 404, 500 };

/* Reads a status that is spelt out from the remainder of a field: its length and its digits. 0:
 * unknown. */
static __always_inline u32 hpack_spelt_out(const u8 bytes[HPACK_SIZE], u32 at, u32 size)
{
	u32 status = 0;

	if (at + HPACK_DIGITS >= size || bytes[at % HPACK_SIZE] != HPACK_DIGITS)
		return 0;
	for (u32 i = 1; i <= HPACK_DIGITS; i++) {
		u8 byte = bytes[(at + i) % HPACK_SIZE];

		if (byte < '0' || byte > '9')
			return 0;
		status = status * 10 + byte - '0';
	}
	return status;
}

/* Reads the status from the first size bytes of a header block. 0: unknown. */
static __always_inline u32 hpack_status(const u8 bytes[HPACK_SIZE], u32 size)
{
	bool goes_on = false;
	u32 at = 0;
	u64 entry;
	u8 byte;

	for (; at < HPACK_UPDATES_SIZE && at < size; at++) {
		byte = bytes[at];
		if (!goes_on && (byte & 0xe0) != 0x20)
			break;
		goes_on = goes_on ? byte & 0x80 : (byte & 0x1f) == 0x1f;
	}
	if (at >= HPACK_UPDATES_SIZE || at >= size)
		return 0;
	byte = bytes[at];
	entry = byte & 0x80 ? byte & 0x7f : byte & 0x40 ? byte & 0x3f : byte & 0xf;
	entry -= HPACK_STATUS;
	asm volatile("" : "+r"(entry));
	if (entry >= HPACK_STATUSES)
		return 0;
	if (byte & 0x80)
		return hpack_statuses[entry];
	return hpack_spelt_out(bytes, at + 1, size);
}

/* Class that a service has for a response of this status, 0: unknown. is_all: HEADERS are all of
 * it. */
__noinline u32 http2_class(u32 service, u32 status, bool is_all)
{
	struct response_text text = {
		.bytes = { text_word("HTTP/2 "), is_all ? text_word("\0\0 end\0") : 0 },
		.length = is_all ? sizeof("HTTP/2 200 end") - 1 : sizeof("HTTP/2 200") - 1,
	};
	u8 *bytes = (u8 *)text.bytes;
	u32 class;

	if (status >= 100 && status < 200)
		return CLASS_INTERIM;
	if (status) {
		bytes[7] = '0' + status / 100;
		bytes[8] = '0' + status / 10 % 10;
		bytes[9] = '0' + status % 10;
	}
	class = response_class(service, &text);
	return class == CLASS_NONE && !status ? CLASS_UNKNOWN : class;
}

#endif
