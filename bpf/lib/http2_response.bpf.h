/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Responses of HTTP/2 by class: the first HEADERS of one are compared as if they began with
 * "HTTP/2 200", and with "HTTP/2 200 end" where they are all of it, as those of gRPC are for a call
 * that has failed before any message. The status is the first field of a header block (RFC 9113,
 * 8.3), and known where it is an entry of HPACK's static table (RFC 7541, appendix A) or spelt out
 * without Huffman's code; else its three octets are 0, which only a ? fits.
 */
#ifndef HTTP2_RESPONSE_BPF_H
#define HTTP2_RESPONSE_BPF_H

#include "buffer.bpf.h"
#include "response.bpf.h"

#define HPACK_UPDATES_SIZE 8 /* octets of changes of the table's size, which come first */
#define HPACK_STATUS 8       /* the first entry with a status in the static table */
#define HPACK_STATUSES 7
#define HPACK_DIGITS 3 /* the length of one that is spelt out */

static const u16 hpack_statuses[HPACK_STATUSES] = { 200, 204, 206, 304, 400, 404, 500 };

/* Where the first field begins, -1: it is not known. */
static __always_inline int hpack_first(struct buffer *b, u64 at, u64 end)
{
	bool goes_on = false;

	for (int i = 0; i < HPACK_UPDATES_SIZE; i++) {
		int octet = at + i < end ? buffer_octet(b, at + i) : -1;

		if (octet < 0)
			return -1;
		if (!goes_on && (octet & 0xe0) != 0x20)
			return i;
		goes_on = goes_on ? octet & 0x80 : (octet & 0x1f) == 0x1f;
	}
	return -1;
}

static __always_inline u32 hpack_spelt_out(struct buffer *b, u64 at, u64 end)
{
	u8 octets[1 + HPACK_DIGITS];
	u32 status = 0;

	if (at + sizeof(octets) > end || !buffer_read(b, at, octets, sizeof(octets)) ||
	    octets[0] != HPACK_DIGITS)
		return 0;
	for (int i = 1; i <= HPACK_DIGITS; i++) {
		if (octets[i] < '0' || octets[i] > '9')
			return 0;
		status = status * 10 + octets[i] - '0';
	}
	return status;
}

/* Of the header block from `at` on, of which the octets before `end` are here; 0: not known.
 * In line, as its caller is called from as deep as the kernel allows. */
static __always_inline u32 hpack_status(struct buffer *b, u64 at, u64 end)
{
	int first = hpack_first(b, at, end), octet;
	u64 entry;

	if (first < 0)
		return 0;
	octet = buffer_octet(b, at + first);
	if (octet < 0)
		return 0;
	entry = octet & 0x80 ? octet & 0x7f : octet & 0x40 ? octet & 0x3f : octet & 0xf;
	entry -= HPACK_STATUS;
	asm volatile("" : "+r"(entry));
	if (entry >= HPACK_STATUSES)
		return 0;
	if (octet & 0x80)
		return hpack_statuses[entry];
	return hpack_spelt_out(b, at + first + 1, end);
}

/* The class that a service has for a response of this status, 0: not known. */
__noinline u32 http2_class(u32 service, u32 status, bool is_all)
{
	struct response_text text = {
		.octets = { word_of("HTTP/2 "), is_all ? word_of("\0\0 end\0") : 0 },
		.length = is_all ? sizeof("HTTP/2 200 end") - 1 : sizeof("HTTP/2 200") - 1,
	};
	u8 *octets = (u8 *)text.octets;
	u32 class;

	if (status >= 100 && status < 200)
		return CLASS_INTERIM;
	if (status) {
		octets[7] = '0' + status / 100;
		octets[8] = '0' + status / 10 % 10;
		octets[9] = '0' + status % 10;
	}
	class = response_class(service, &text);
	return class == CLASS_NONE && !status ? CLASS_UNKNOWN : class;
}

#endif
