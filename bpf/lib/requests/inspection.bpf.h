/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What is known of a connection from its first bytes, see protocol.bpf.h and tls_handshake.bpf.h.
 */
#ifndef INSPECTION_BPF_H
#define INSPECTION_BPF_H

#include "tls_hello.bpf.h"

/* Inspection of the first bytes of a connection. */
struct inspection {
	u8 left;        /* remaining inspections, 0: the first has not been made */
	u8 preface;     /* bytes of HTTP/2's preface that have come */
	u8 frames;      /* receives in a row that were frames of HTTP/2 */
	bool again;     /* at the next receive, even of the same exchange */
	bool sent;      /* something was sent meanwhile */
	bool is_text;   /* starts with a word in capitals and a space, as HTTP/1 */
	bool is_stomp;  /* starts with a line that is a word in capitals */
	bool is_broker; /* starts as STOMP, AMQP or MQTT */
	bool upgraded;  /* HTTP/1 has ended with status 101 */
	u32 frame_left; /* bytes of the last HTTP/2 frame with which the next call starts */
};

/* The protocol of a connection, as far as it matters here. */
enum protocol {
	PROTOCOL_NEW,         /* unknown, see protocol.bpf.h */
	PROTOCOL_ALTERNATING, /* any other: an exchange is a turn of the conversation */
	PROTOCOL_HTTP2,
	PROTOCOL_TLS,
	PROTOCOL_FULL_DUPLEX, /* both sides send when they like, see unasked.bpf.h */
};

/* Of TLS, of a server's connection. */
struct handshake {
	u64 began_ns;    /* arrival of its first bytes, 0: it is over */
	u64 received_ns; /* last receive of messages without a response, 0: there are none */
	u64 server_ns;   /* that messages have spent at the server, before the first request */
	struct tls_hello hello;
};

#endif
