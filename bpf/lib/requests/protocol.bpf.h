/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Detects the protocol of a connection: from the first bytes that a server receives, and from
 * those of the second exchange, which may be HTTP/2 after an Upgrade. A PROXY header before them
 * is skipped if it has come as a whole. A connection that is older than the probe is inspected for
 * longer: it is HTTP/2 if what is received consists of frames three times in a row.
 */
#ifndef PROTOCOL_BPF_H
#define PROTOCOL_BPF_H

#include "http2.bpf.h"
#include "storage.bpf.h"
#include "tls.bpf.h"

#define INSPECTIONS 2
#define INSPECTIONS_LATE 64
#define INSPECTIONS_OF_FRAMES 3 /* receives in a row */

#define WORD_MAX 10
#define MQTT_CONNECT 0x10 /* first byte */
#define STATUS_SIZE 12    /* "HTTP/1.1 101" */

#define PREFACE_SIZE 24
#define PREFACE_SURE 4 /* no other protocol starts with this many bytes of it */
#define PROXY1_SIZE 6
#define PROXY1_MAX 107
#define PROXY2_SIZE 12
#define PROXY2_SIZE_MORE 4 /* the last two of them: length of what follows */

enum magic { MAGIC_PREFACE, MAGIC_PROXY1, MAGIC_PROXY2, MAGICS = 4 };

static const u8 magics[MAGICS][32] = {
	[MAGIC_PREFACE] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	[MAGIC_PROXY1] = "PROXY ",
	[MAGIC_PROXY2] = "\r\n\r\n\0\r\nQUIT\n",
};

/* Compares with magics[magic], of which `done` bytes have come before m->begin. Returns how many of
 * its first `size` bytes have come, and skips these. -1: the bytes differ. */
__noinline int inspect_match(struct moved *m, u32 magic, u32 done, u32 size)
{
	u64 at;

	if (!m)
		return -1;
	at = m->begin;
	for (int i = 0; i < PREFACE_SIZE; i++) {
		if (done >= size || at >= m->end)
			break;
		if (buffer_byte(&m->buffer, at) != magics[magic & (MAGICS - 1)][done & 31])
			return -1;
		done++;
		at++;
	}
	m->begin = at;
	return done;
}

/* Skips a line. false: it is not complete. */
__noinline int inspect_line(struct moved *m)
{
	if (!m)
		return false;
	for (int i = 0; i < PROXY1_MAX; i++) {
		int byte = m->begin < m->end ? buffer_byte(&m->buffer, m->begin++) : -1;

		if (byte < 0 || byte == '\n')
			return byte == '\n';
	}
	return false;
}

static bool inspect_proxy2(struct moved *m)
{
	u8 more[PROXY2_SIZE_MORE];

	if (!buffer_read(&m->buffer, m->begin, more, sizeof(more)))
		return false;
	m->begin += sizeof(more) + (more[2] << 8 | more[3]);
	return m->begin <= m->end;
}

static bool inspect_magic(struct moved *m, enum magic magic, u32 size)
{
	u64 at = m->begin;

	if (inspect_match(m, magic, 0, size) == (int)size)
		return true;
	m->begin = at;
	return false;
}

/* Skips a PROXY header, if there is one. false: it is not complete. */
static bool inspect_proxy(struct moved *m, int first)
{
	if (first == magics[MAGIC_PROXY2][0] && inspect_magic(m, MAGIC_PROXY2, PROXY2_SIZE))
		return inspect_proxy2(m);
	if (first == magics[MAGIC_PROXY1][0] && inspect_magic(m, MAGIC_PROXY1, PROXY1_SIZE))
		return inspect_line(m);
	return true;
}

/* Of TCP: was something received before the last `bytes`? */
static bool connection_is_late(u64 sk, u64 bytes)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;
	u64 received = BPF_CORE_READ(tcp, bytes_received);

	return received > BPF_CORE_READ(tcp, rcv_nxt) - BPF_CORE_READ(tcp, copied_seq) + bytes;
}

static bool connection_is_tcp(u64 sk)
{
	return BPF_CORE_READ((const struct sock *)sk, sk_protocol) == IPPROTO_TCP;
}

/* Seems to be none of the protocols that are told apart: ends this inspection. */
static enum protocol inspect_next(struct inspection *inspection)
{
	inspection->preface = 0;
	inspection->frames = 0;
	inspection->frame_left = 0;
	inspection->left--;
	inspection->again = inspection->left > INSPECTIONS;
	return inspection->left ? PROTOCOL_NEW : PROTOCOL_ALTERNATING;
}

static enum protocol inspect_preface(struct inspection *inspection, struct moved *m)
{
	int matched = inspect_match(m, MAGIC_PREFACE, inspection->preface, PREFACE_SIZE);

	if (matched == PREFACE_SIZE)
		return PROTOCOL_HTTP2;
	if (matched < 0)
		return inspect_next(inspection);
	inspection->preface = matched;
	inspection->again = true;
	return PROTOCOL_NEW;
}

/* Frames without the preface, which may have come unseen. A frame may come in several receives,
 * such as its header and its payload. */
static enum protocol inspect_frames(struct inspection *inspection, struct moved *m)
{
	u64 frame_left = inspection->frame_left;
	s64 left;

	if (frame_left >= m->end) {
		inspection->frame_left = frame_left - m->end;
		inspection->again = true;
		return PROTOCOL_NEW;
	}
	m->begin = frame_left;
	left = frames_pass_all(m);
	if (left < 0)
		return inspect_next(inspection);
	inspection->frames++;
	inspection->again = true;
	if (inspection->frames >= INSPECTIONS_OF_FRAMES)
		return PROTOCOL_HTTP2;
	inspection->frame_left = left;
	return PROTOCOL_NEW;
}

/* Seems to be TLS, until a later byte contradicts. */
static bool inspect_tls(struct moved *m)
{
	return m->begin < m->end && buffer_byte(&m->buffer, m->begin) == TLS_HANDSHAKE;
}

/* 1 + the byte after the word in capitals that it starts with. 0: there is none. */
__noinline int inspect_word(struct moved *m)
{
	for (u32 i = 0; m && i < WORD_MAX; i++) {
		int byte = i < m->end ? buffer_byte(&m->buffer, i) : -1;

		if (byte < 'A' || byte > 'Z')
			return i ? 1 + byte : 0;
	}
	return 0;
}

/* Notes what matters to unasked.bpf.h. */
static void inspect_pushes(struct inspection *inspection, struct moved *m, int first)
{
	int after_word = inspect_word(m);

	inspection->is_text = after_word == 1 + ' ';
	inspection->is_stomp = after_word == 1 + '\n';
	inspection->is_broker |=
		inspection->is_stomp || after_word == 1 + '\0' || first == MQTT_CONNECT;
}

static enum protocol inspect_bytes(struct inspection *inspection, struct moved *m)
{
	int first = buffer_byte(&m->buffer, 0);

	if (inspection->upgraded && first != magics[MAGIC_PREFACE][0])
		return PROTOCOL_FULL_DUPLEX;
	inspect_pushes(inspection, m, first);
	if (inspection->preface)
		return inspect_preface(inspection, m);
	if (inspection->frame_left || first == 0)
		return inspect_frames(inspection, m);
	if (!inspect_proxy(m, first))
		return PROTOCOL_ALTERNATING;
	if (inspect_tls(m))
		return PROTOCOL_TLS;
	return inspect_preface(inspection, m);
}

/* Is this call to be inspected? The first one always is. */
static bool is_to_inspect(struct conversation *c, const struct moved *m)
{
	struct inspection *inspection = &c->inspection;

	if (!inspection->left) {
		inspection->left =
			connection_is_tcp(c->served.sk) && connection_is_late(c->served.sk, m->end)
				? INSPECTIONS_LATE
				: INSPECTIONS;
		return true;
	}
	return inspection->again ||
	       (c->exchange.phase != PHASE_REQUESTED && c->exchange.phase != PHASE_REQUEST_STREAM);
}

/* Inspects what a server has received on a connection whose protocol is unknown. */
__noinline int protocol_inspect(struct conversation *c, struct moved *m)
{
	struct request_row *row = c ? conversation_row(c) : NULL;

	if (!row || !m || !is_to_inspect(c, m))
		return 0;
	c->inspection.again = false;
	if (moved_find(m, c->served.sk))
		c->protocol = inspect_bytes(&c->inspection, m);
	if (c->protocol == PROTOCOL_FULL_DUPLEX)
		full_duplex_begin(c, row);
	else if (c->inspection.is_stomp)
		c->exchange.pushed = true;
	if (m->found && (c->protocol != PROTOCOL_HTTP2 || kernel_has_loop()))
		return 0;
	c->protocol = PROTOCOL_ALTERNATING;
	add(&row->unread, 1);
	return 0;
}

/* For a service as a client only TLS matters; it starts with what the client sends. */
static void inspect_receive(struct conversation *c, struct moved *m)
{
	if (c->role != ROLE_CLIENT)
		protocol_inspect(c, m);
	if (c->protocol == PROTOCOL_TLS)
		tls_begin(c, m->now);
}

static void inspect_client_send(struct conversation *c, struct moved *m)
{
	c->protocol = PROTOCOL_ALTERNATING;
	if (moved_find(m, c->served.sk) && inspect_tls(m))
		tls_begin(c, m->now);
}

/* Is this the response by which HTTP/1 ends? Global: verified once. */
__noinline int inspect_status(struct moved *m, u64 sk)
{
	const u64 version = text_word("HTTP/1.1");
	u8 bytes[2 * sizeof(u64)] = {};
	u64 words[2];

	if (!m || m->end < STATUS_SIZE || !moved_find(m, sk) ||
	    !buffer_read(&m->buffer, 0, bytes, STATUS_SIZE))
		return false;
	__builtin_memcpy(words, bytes, sizeof(words));
	return words[0] == version && words[1] == text_word(" 101\0\0\0");
}

/* Inspects what is sent before the protocol is known. true: it responds to nothing. If nothing was
 * received, what has arrived by then still waits. */
static bool inspect_send(struct conversation *c, struct moved *m)
{
	bool first;

	if (c->role == ROLE_CLIENT) {
		inspect_client_send(c, m);
		return false;
	}
	if (c->inspection.upgraded)
		return count_send(c, m->end, m->now);
	if (c->inspection.is_text && c->exchange.phase == PHASE_REQUESTED &&
	    inspect_status(m, c->served.sk)) {
		c->inspection.upgraded = true;
		c->inspection.again = true;
	}
	first = !c->inspection.left && connection_is_tcp(c->served.sk) &&
		!connection_is_late(c->served.sk, 0);
	c->inspection.sent = true;
	return (first || c->inspection.preface >= PREFACE_SURE) && count_send(c, m->end, m->now);
}

/* --- HTTP/2 --- */

SK_STORAGE(http2_connections, struct http2);

/* NULL: no memory. */
static __noinline struct http2 *http2_of(struct conversation *c, struct sock *sk)
{
	struct http2 *h = bpf_sk_storage_get(&http2_connections, sk, NULL, 0);

	if (h)
		return h;
	h = or_refused(socket_storage_make(&http2_connections, sk, NULL));
	if (h)
		http2_init(h, c);
	return h;
}

/* Streams in progress end with the connection. */
static __noinline void http2_closed(struct conversation *c, struct sock *sk)
{
	struct http2 *h = bpf_sk_storage_get(&http2_connections, sk, NULL, 0);

	if (h && slot_cache_has_slot(&c->cache, &slot_owners))
		http2_forget(h, c, bpf_ktime_get_ns());
}

/* --- all protocols --- */

/* Counts what is received. true: it is no turn of an alternating conversation, and has been
 * counted. */
static __noinline bool protocol_receives(struct conversation *c, struct sock *sk, u64 bytes,
					 u32 flags, u64 now)
{
	struct http2_call call = { .moved = { .end = bytes, .now = now, .flags = flags } };

	if (c->protocol == PROTOCOL_NEW)
		inspect_receive(c, &call.moved);
	if (c->protocol == PROTOCOL_FULL_DUPLEX)
		return full_duplex_receives(c, bytes, socket_has_more(sk), now);
	if (c->protocol == PROTOCOL_TLS)
		return tls_receives(c, sk, &call.moved);
	return c->protocol == PROTOCOL_HTTP2 &&
	       http2_receives(http2_of(c, sk), c, &call, socket_has_more(sk));
}

/* The same for what is sent. */
static __noinline bool protocol_sends(struct conversation *c, struct sock *sk, u64 bytes, u64 now)
{
	struct http2_call call = { .moved = { .end = bytes, .now = now } };

	if (c->protocol == PROTOCOL_NEW && inspect_send(c, &call.moved))
		return true;
	if (c->protocol == PROTOCOL_FULL_DUPLEX)
		return full_duplex_sends(c, bytes, now);
	if (c->protocol == PROTOCOL_TLS)
		return tls_sends(c, &call.moved);
	return c->protocol == PROTOCOL_HTTP2 && http2_sends(http2_of(c, sk), c, &call);
}

#endif
