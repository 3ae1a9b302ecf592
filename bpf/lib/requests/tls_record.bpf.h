/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * TLS: finds which bytes of a client belong to requests, from the headers of its records, which
 * are not encrypted. Its handshake starts no exchange, nor do alerts and later handshakes; what
 * the server sends of these is no response.
 *
 * Up to version 1.2 all bytes of application records belong to requests. In 1.3 such records also
 * carry the end of the handshake: a certificate, its proof and Finished. Only Finished has a known
 * length, given by the hash; what comes before it belongs to the handshake. A client may pack all
 * three into one record: then the next record is a request. The proof looks like a request until
 * Finished comes, which is before any response. 1.2 has Finished in a handshake record after
 * ChangeCipherSpec, where 1.3 may have a second ClientHello, which is longer.
 *
 * Limits: data before the end of the handshake (early data of 1.3) counts as part of it. An alert
 * of 1.3 looks like 2 bytes of data: these start no exchange and do not lengthen a response.
 * Tickets that a server of 1.3 sends after it has received Finished and a request in one call
 * count as the first bytes of the response.
 */
#ifndef TLS_RECORD_BPF_H
#define TLS_RECORD_BPF_H

#include "buffer.bpf.h"

#define TLS_RECORDS_MAX 4096 /* inspected in one receive */
#define TLS_LENGTH_MAX (16384 + 2048)
#define TLS_HEADER 5

/* Of TLS in the kernel. */
#define SOL_TLS 282
#define TLS_SET_RECORD_TYPE 1
#define TLS_GET_RECORD_TYPE 2

/* Lengths of encrypted records. Tags have 16 bytes, 8 with one of the ciphers of 1.3. */
#define TLS_FINISHED_1_2_MAX 128
#define TLS_FINISHED_1_3(hash) (4 + (hash) + 1 + 16)
#define TLS_ALERT_1_3 (2 + 1 + 16)
#define TLS_END_OF_EARLY_DATA (4 + 1 + 16)
#define TLS_SETTINGS_ACK (9 + 1 + 16) /* a frame of HTTP/2 */
#define TLS_SETTINGS_RECEIVES 16      /* first ones with requests */

enum tls_type {
	TLS_CHANGE_CIPHER_SPEC = 20,
	TLS_ALERT = 21,
	TLS_HANDSHAKE = 22,
	TLS_DATA = 23,
	TLS_HEARTBEAT = 24
};

enum tls_state {
	TLS_HELLO,
	TLS_CHANGED,     /* the client's ChangeCipherSpec has come */
	TLS_CERTIFICATE, /* 1.3: one encrypted record has come that is not Finished */
	TLS_PROOF,       /* 1.3: and another, which may be the proof or a request */
	TLS_OPEN_1_2,    /* the handshake is over */
	TLS_OPEN_1_3,
	TLS_OPEN_DATA /* all is data, for instance because the kernel parses the records */
};

/* State of the records of one direction. */
struct tls {
	u32 left; /* bytes of this record that have not come yet */
	u8 state;
	bool data;        /* this record belongs to a request */
	bool message;     /* a message of a handshake has come that wants a response */
	bool short_first; /* the last request starts with TLS_SETTINGS_ACK bytes */
	u8 received;      /* bytes of the next header that have come */
	u8 header[TLS_HEADER];
};

/* What has come with a call. */
enum tls_records {
	TLS_RECORDS_OTHER,
	TLS_RECORDS_DATA,
	TLS_RECORDS_PROOF, /* what seemed to be data before belonged to the handshake */
	TLS_RECORDS_LOST   /* it is not TLS, or the position in it is lost */
};

/* A walk over the records of a call. */
struct tls_walk {
	struct moved *moved; /* walked up to its begin */
	struct tls *tls;
	u32 requested;
	u32 result;
};

static __always_inline u32 tls_length(const u8 *header)
{
	return header[3] << 8 | header[4];
}

/* Is this a header, as far as it has come? */
static __always_inline bool tls_is_header(const struct tls *t)
{
	const u8 *header = t->header;

	if (header[0] < TLS_CHANGE_CIPHER_SPEC || header[0] > TLS_HEARTBEAT)
		return false;
	if (t->received >= 2 && header[1] != 3)
		return false;
	if (t->received >= 3 && header[2] > 4)
		return false;
	return t->received < TLS_HEADER || tls_length(header) <= TLS_LENGTH_MAX;
}

static __always_inline bool tls_is_finished(u32 length)
{
	return length == TLS_FINISHED_1_3(32) || length == TLS_FINISHED_1_3(48) ||
	       length == TLS_FINISHED_1_3(32) - 8;
}

/* An application record of a client, before the end of the handshake of 1.3 has been seen. true: it
 * belongs to a request. */
static __always_inline bool tls_early_data(struct tls_walk *w, u32 length)
{
	u8 was = w->tls->state;

	if (tls_is_finished(length) && (was != TLS_PROOF || w->requested)) {
		w->tls->state = TLS_OPEN_1_3;
		if (was == TLS_PROOF)
			w->result = TLS_RECORDS_PROOF;
		return false;
	}
	if (length == TLS_END_OF_EARLY_DATA) {
		w->tls->state = TLS_CHANGED;
		return false;
	}
	if (was == TLS_PROOF)
		w->tls->state = TLS_OPEN_1_3;
	else
		w->tls->state = was == TLS_CERTIFICATE ? TLS_PROOF : TLS_CERTIFICATE;
	return was >= TLS_CERTIFICATE;
}

static __always_inline bool tls_is_data(struct tls_walk *w, u32 length)
{
	if (w->tls->state == TLS_OPEN_1_2)
		return true;
	if (length == TLS_ALERT_1_3)
		return false;
	return w->tls->state == TLS_OPEN_1_3 || tls_early_data(w, length);
}

/* The header of a record is complete. */
static __always_inline void tls_record(struct tls_walk *w)
{
	struct tls *t = w->tls;
	u32 length = tls_length(t->header);

	t->left = length;
	t->received = 0;
	t->data = false;
	switch (t->header[0]) {
	case TLS_CHANGE_CIPHER_SPEC:
		if (t->state == TLS_HELLO)
			t->state = TLS_CHANGED;
		break;
	case TLS_HANDSHAKE:
		if (t->state == TLS_CHANGED && length <= TLS_FINISHED_1_2_MAX)
			t->state = TLS_OPEN_1_2;
		else if (t->state <= TLS_CHANGED)
			t->message = true;
		break;
	case TLS_DATA:
		t->data = tls_is_data(w, length);
		break;
	}
	if (!t->data)
		return;
	if (!w->requested)
		t->short_first = length == TLS_SETTINGS_ACK;
	w->requested = true;
	w->result = TLS_RECORDS_DATA;
}

/* Reads more of a header: all at once if that has come. false: it cannot be read. */
static __always_inline bool tls_more_header(struct tls_walk *w)
{
	struct moved *m = w->moved;
	struct tls *t = w->tls;
	u32 at = t->received;
	int byte;

	if (!at && m->end - m->begin >= TLS_HEADER) {
		t->received = TLS_HEADER;
		m->begin += TLS_HEADER;
		return buffer_read(&m->buffer, m->begin - TLS_HEADER, t->header, TLS_HEADER);
	}
	byte = buffer_byte(&m->buffer, m->begin);
	if (byte < 0 || at >= TLS_HEADER)
		return false;
	t->header[at] = byte;
	t->received = at + 1;
	m->begin++;
	return true;
}

/* Skips what has come of this record. */
static __always_inline void tls_pass(struct tls_walk *w)
{
	u64 length_here = w->moved->end - w->moved->begin;

	length_here = length_here < w->tls->left ? length_here : w->tls->left;
	w->tls->left -= length_here;
	w->moved->begin += length_here;
}

/* Reads a header, or a byte of one, and skips the record after it. 1: that was all. */
static long tls_step(u32 i, struct tls_walk *w)
{
	if (!tls_more_header(w) || !tls_is_header(w->tls)) {
		w->result = TLS_RECORDS_LOST;
		return 1;
	}
	if (w->tls->received == TLS_HEADER)
		tls_record(w);
	tls_pass(w);
	return ends_loop(w->moved->begin >= w->moved->end);
}

/* Walks from m->begin on. requested: an exchange has started and has no response yet. Returns enum
 * tls_records. Global: verified once. */
__noinline int tls_walk(struct tls *t, struct moved *m, u32 requested)
{
	struct tls_walk w = { .moved = m, .tls = t, .requested = requested };

	if (!t || !m || m->begin > m->end)
		return TLS_RECORDS_LOST;
	if (t->state == TLS_OPEN_DATA)
		return TLS_RECORDS_DATA;
	if (t->left && t->data)
		w.result = TLS_RECORDS_DATA;
	tls_pass(&w);
	if (m->begin < m->end && kernel_has_loop())
		bpf_loop(TLS_RECORDS_MAX, tls_step, &w, 0);
	return m->begin < m->end ? TLS_RECORDS_LOST : w.result;
}

/* Does what a server has sent belong to a response? responded: the response has started. */
__noinline int tls_is_response(const struct tls *t, struct moved *m, u32 responded)
{
	struct tls record = { .received = TLS_HEADER };

	if (!t || !m || m->end < TLS_HEADER ||
	    !buffer_read(&m->buffer, 0, record.header, TLS_HEADER) || !tls_is_header(&record))
		return true;
	if (record.header[0] != TLS_DATA)
		return false;
	return !responded || t->state != TLS_OPEN_1_3 || m->end != TLS_HEADER + TLS_ALERT_1_3 ||
	       tls_length(record.header) != TLS_ALERT_1_3;
}

/* Is TLS in the kernel, in at least one direction? */
static bool tls_in_kernel(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP &&
	       BPF_CORE_READ((const struct inet_connection_sock *)sk, icsk_ulp_ops);
}

/* The layout of 64-bit programs. */
struct user_control {
	u64 length;
	s32 level;
	s32 type;
	u64 record;
};

/* Type of the record that the kernel has parsed or made in this call; 0: unknown. */
static __noinline u32 tls_control(int type)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u64 message = call_argument(regs, 2), address = 0;
	struct user_control control = {};

	if (regs_32_bit(regs) || call_bytes(call_number(regs)) != BYTES_MESSAGE)
		return 0;
	/* msg_control follows the members in struct user_msghdr. */
	if (!buffer_read_user(&address, sizeof(address), message + sizeof(struct user_msghdr)) ||
	    !address || !buffer_read_user(&control, sizeof(control), address))
		return 0;
	return control.level == SOL_TLS && control.type == type ? control.record & 0xff : 0;
}

#endif
