/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Does a connection with TLS carry HTTP/2? Its frames are encrypted, but what is in clear tells.
 * The client must have offered it: ALPN (RFC 7301) in its ClientHello, which may come in several
 * receives. What the server has chosen depends on the version:
 *
 *   1.2  is in its ServerHello
 *   1.3  is in EncryptedExtensions, of which only the length is known. With "h2" and none or some
 *        of two empty extensions (server_name, early_data) it has one of three lengths, which it
 *        has with no other common choice. Where it is no record of its own (BoringSSL, rustls), a
 *        record of the client shows it that has the length of a frame that acknowledges SETTINGS:
 *        HTTP/2 demands the frame, and no request of HTTP/1.1 starts with so short a record.
 *
 * Limits: in 1.3 missed if the server pads its records; if the acknowledgement comes together with
 * other frames, or before anything is sent, where EncryptedExtensions is no record of its own; if
 * a ServerHello comes in several sends.
 */
#ifndef TLS_HELLO_BPF_H
#define TLS_HELLO_BPF_H

#include "tls_record.bpf.h"

#define TLS_HELLO_STEPS 1024 /* in one call */
#define TLS_SERVER_RECORDS 8 /* inspected in one send */
#define TLS_SERVER_HELLO 2   /* type of a message */
#define TLS_HELLO_FIXED 38   /* type, length, version and random number */
#define TLS_HELLO_CIPHER 3   /* of a server: cipher and compression */
#define TLS_EXTENSION 4      /* type and length */
#define TLS_ALPN 16
#define TLS_SUPPORTED_VERSIONS 43
#define TLS_TAG_1_3 17
#define TLS_HTTP2 ('h' << 8 | '2')

enum tls_choice {
	TLS_CLIENT_HELLO, /* has not come as a whole */
	TLS_OFFERED,      /* the client offers HTTP/2 */
	TLS_EXTENSIONS,   /* 1.3: EncryptedExtensions comes next */
	TLS_SETTINGS,     /* a SETTINGS frame of the server may be acknowledged */
	TLS_CHOSEN        /* HTTP/2 or not: known, or not to be found out */
};

/* What is read next of a hello, a number of 1 or 2 bytes. */
enum tls_hello_step {
	HELLO_SESSION,
	HELLO_CIPHERS,
	HELLO_COMPRESSION,
	HELLO_EXTENSIONS,
	HELLO_TYPE,
	HELLO_LENGTH,
	HELLO_NAMES,
	HELLO_NAME_LENGTH,
	HELLO_NAME,
	HELLO_END
};

/* A hello, as far as it has been read. */
struct tls_hello {
	u16 skip; /* bytes before the next number */
	u16 number;
	u16 type;
	u16 left;   /* bytes of further extensions, or of further names */
	u8 bytes;   /* of the number that have come */
	u8 step;    /* enum tls_hello_step */
	u8 choice;  /* enum tls_choice */
	u8 records; /* TLS_SETTINGS: receives that remain to be checked */
	bool server;
	bool http2;    /* it is among the names */
	bool versions; /* of a server: 1.3 */
};

struct tls_hello_walk {
	struct tls_hello *hello;
	struct buffer *buffer;
	u64 begin, end;
};

static __always_inline u16 less(u16 a, u16 b)
{
	return a > b ? a - b : 0;
}

static __always_inline void hello_extension(struct tls_hello *h, u16 length)
{
	h->left = less(h->left, TLS_EXTENSION + length);
	if (h->type == TLS_ALPN) {
		h->step = HELLO_NAMES;
		return;
	}
	if (h->type == TLS_SUPPORTED_VERSIONS)
		h->versions = true;
	h->skip = length;
	h->step = h->left ? HELLO_TYPE : HELLO_END;
}

static __always_inline void hello_name_length(struct tls_hello *h, u16 length)
{
	h->left = less(h->left, 1 + length);
	if (length == 2) {
		h->step = HELLO_NAME;
		return;
	}
	h->skip = length;
	h->step = h->left ? HELLO_NAME_LENGTH : HELLO_END;
}

/* A number has been read. */
static __always_inline void hello_number(struct tls_hello *h, u16 number)
{
	switch (h->step) {
	case HELLO_SESSION:
		h->skip = number + (h->server ? TLS_HELLO_CIPHER : 0);
		h->step = h->server ? HELLO_EXTENSIONS : HELLO_CIPHERS;
		break;
	case HELLO_CIPHERS:
		h->skip = number;
		h->step = HELLO_COMPRESSION;
		break;
	case HELLO_COMPRESSION:
		h->skip = number;
		h->step = HELLO_EXTENSIONS;
		break;
	case HELLO_EXTENSIONS:
		h->left = number;
		h->step = number ? HELLO_TYPE : HELLO_END;
		break;
	case HELLO_TYPE:
		h->type = number;
		h->step = HELLO_LENGTH;
		break;
	case HELLO_LENGTH:
		hello_extension(h, number);
		break;
	case HELLO_NAMES:
		h->left = number;
		h->step = number ? HELLO_NAME_LENGTH : HELLO_END;
		break;
	case HELLO_NAME_LENGTH:
		hello_name_length(h, number);
		break;
	case HELLO_NAME:
		h->http2 = number == TLS_HTTP2;
		h->step = h->left && !h->http2 ? HELLO_NAME_LENGTH : HELLO_END;
		break;
	}
}

static __always_inline bool hello_has_short_number(u32 step)
{
	return step == HELLO_SESSION || step == HELLO_COMPRESSION || step == HELLO_NAME_LENGTH;
}

/* Skips what is to be skipped, or reads a byte. 1: that was all. */
static long hello_step(u32 i, struct tls_hello_walk *w)
{
	struct tls_hello *h = w->hello;
	u64 skip = w->end - w->begin < h->skip ? w->end - w->begin : h->skip;
	int byte;

	w->begin += skip;
	h->skip -= skip;
	if (w->begin >= w->end)
		return 1;
	byte = buffer_byte(w->buffer, w->begin++);
	if (byte < 0)
		h->step = HELLO_END;
	h->number = h->number << 8 | (u8)byte;
	h->bytes++;
	if (h->bytes == 2 || hello_has_short_number(h->step)) {
		hello_number(h, h->number);
		h->number = 0;
		h->bytes = 0;
	}
	return ends_loop(h->step == HELLO_END);
}

static __always_inline void hello_walk(struct tls_hello *h, struct moved *m, u64 begin, u64 end)
{
	struct tls_hello_walk w = { .hello = h, .buffer = &m->buffer, .begin = begin, .end = end };

	if (kernel_has_loop())
		bpf_loop(TLS_HELLO_STEPS, hello_step, &w, 0);
}

static __always_inline void hello_begin(struct tls_hello *h)
{
	h->skip = TLS_HEADER + TLS_HELLO_FIXED;
}

/* Reads what has come of a ClientHello. Global, as the functions below: verified once. */
__noinline int tls_client_hello(struct tls_hello *h, struct moved *m)
{
	if (!h || !m || m->begin > m->end)
		return 0;
	if (!m->found)
		h->choice = TLS_CHOSEN;
	else
		hello_walk(h, m, m->begin, m->end);
	if (h->step == HELLO_END)
		h->choice = h->http2 ? TLS_OFFERED : TLS_CHOSEN;
	return 0;
}

/* A ServerHello from begin to end. Returns whether it chooses HTTP/2. */
__noinline int tls_server_hello(struct tls_hello *h, struct moved *m, u64 begin, u64 end)
{
	struct tls_hello server = { .skip = TLS_HELLO_FIXED, .server = true };

	if (!h || !m || begin > end)
		return false;
	hello_walk(&server, m, begin, end);
	h->choice = server.versions ? TLS_EXTENSIONS : TLS_CHOSEN;
	return server.http2;
}

/* The server's first encrypted record of 1.3. Returns whether it chooses HTTP/2. */
static __always_inline bool hello_extensions(struct tls_hello *h, u32 length)
{
	h->choice = TLS_CHOSEN;
	switch (length - TLS_TAG_1_3) {
	case 15: /* ALPN with "h2" */
	case 19: /* and an empty extension */
	case 23: /* and two of them */
		return true;
	case 6: /* the same without ALPN */
	case 10:
	case 14:
	case 21: /* with "http/1.1" */
	case 25:
	case 29:
		return false;
	}
	h->choice = TLS_SETTINGS;
	h->records = TLS_SETTINGS_RECEIVES;
	return false;
}

/* A server's send during the handshake. Returns whether it chooses HTTP/2. */
__noinline int tls_server_flight(struct tls_hello *h, struct moved *m)
{
	u8 header[TLS_HEADER + 1];
	int http2 = false;
	u64 at = 0, end;

	if (!h || !m)
		return false;
	for (int i = 0; i < TLS_SERVER_RECORDS && !http2; i++) {
		if (at + sizeof(header) > m->end ||
		    !buffer_read(&m->buffer, at, header, sizeof(header)))
			break;
		end = at + TLS_HEADER + tls_length(header);
		if (h->choice == TLS_OFFERED && header[0] == TLS_HANDSHAKE &&
		    header[TLS_HEADER] == TLS_SERVER_HELLO && end <= m->end)
			http2 = tls_server_hello(h, m, at + TLS_HEADER, end);
		else if (h->choice == TLS_EXTENSIONS && header[0] == TLS_DATA)
			http2 = hello_extensions(h, tls_length(header));
		at = end;
	}
	return http2;
}

#endif
