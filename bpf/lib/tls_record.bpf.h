/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * TLS: which octets of a client are of requests, by its records' headers, which are in clear. Its
 * handshake begins no exchange, nor do alerts and later handshakes; what the server sends of
 * these answers none.
 *
 * Until version 1.2 all octets of application records are of requests. In 1.3 the end of the
 * handshake is in such records, too: a certificate, its proof and Finished. Finished alone has a
 * length of its own, that of the hash; what comes before it is the handshake's. A client may pack
 * all three into one record: then the next one is a request. The proof seems to be one until
 * Finished comes, which is before any answer. 1.2 has Finished in a handshake record after
 * ChangeCipherSpec, where 1.3 may have a second ClientHello, which is longer.
 *
 * Limits: data that comes before the handshake ends (early data of 1.3) is taken as part of it. An
 * alert of 1.3 looks like 2 octets of data: these begin no exchange and do not lengthen an answer.
 * Tickets that a server of 1.3 sends when it has received Finished and a request in one call are
 * taken for the first octets of the answer.
 */
#ifndef TLS_RECORD_BPF_H
#define TLS_RECORD_BPF_H

#include "buffer.bpf.h"

#define TLS_RECORDS_MAX 4096 /* that are looked at in one receive */
#define TLS_LENGTH_MAX (16384 + 2048)
#define TLS_HEADER 5

/* Of the kernel's own TLS. */
#define SOL_TLS 282
#define TLS_SET_RECORD_TYPE 1
#define TLS_GET_RECORD_TYPE 2

/* Lengths of encrypted records: tags have 16 octets, 8 with one of the ciphers of 1.3. */
#define TLS_FINISHED_1_2_MAX 128
#define TLS_FINISHED_1_3(hash) (4 + (hash) + 1 + 16)
#define TLS_ALERT_1_3 (2 + 1 + 16)
#define TLS_END_OF_EARLY_DATA (4 + 1 + 16)

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
	TLS_CERTIFICATE, /* 1.3: one encrypted record has come, not Finished */
	TLS_PROOF,       /* 1.3: and another, which may be the proof of that or a request */
	TLS_OPEN_1_2,    /* the handshake is over */
	TLS_OPEN_1_3,
	TLS_OPEN_DATA /* whatever comes, as where the kernel takes records apart */
};

/* How far the client's records have come. */
struct tls {
	u32 left; /* octets of this record that have not come */
	u8 state;
	bool data;   /* this record is of a request */
	u8 received; /* octets of the next header */
	u8 header[TLS_HEADER];
};

/* What has come with a call. */
enum tls_records {
	TLS_RECORDS_OTHER,
	TLS_RECORDS_DATA,
	TLS_RECORDS_PROOF, /* what seemed to be data before was the handshake's */
	TLS_RECORDS_LOST   /* it is not TLS, or not known any more */
};

/* A walk over the records of a call. */
struct tls_walk {
	struct moved *moved; /* up to its begin */
	struct tls *tls;
	u32 requested;
	u32 result;
};

static __always_inline u32 tls_length(const u8 *header)
{
	return header[3] << 8 | header[4];
}

/* As far as it has come. */
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

/* An application record of a client, before the handshake of 1.3 is known to be over; true: it is
 * of a request. */
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
		break;
	case TLS_DATA:
		t->data = tls_is_data(w, length);
		break;
	}
	if (!t->data)
		return;
	w->requested = true;
	w->result = TLS_RECORDS_DATA;
}

/* More of a header: all at once where that is there. */
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

/* Passes over what has come of this record. */
static __always_inline void tls_pass(struct tls_walk *w)
{
	u64 length_here = w->moved->end - w->moved->begin;

	length_here = length_here < w->tls->left ? length_here : w->tls->left;
	w->tls->left -= length_here;
	w->moved->begin += length_here;
}

/* A header, or an octet of one, and the record behind it; 1: that was all. */
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

/* From m->begin on. asked: an exchange has begun and is not answered yet. Returns enum tls_records.
 * Global: verified once. */
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

/* What a server has sent: is it of an answer? answered: that has begun. */
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

/* TLS in the kernel, at least in one direction? */
static bool tls_in_kernel(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP &&
	       BPF_CORE_READ((const struct inet_connection_sock *)sk, icsk_ulp_ops);
}

/* As programs of 64 bits have it. */
struct user_control {
	u64 length;
	s32 level;
	s32 type;
	u64 record;
};

/* Which type of record the kernel has taken apart, or made, in this call; 0: it does not say. */
static __noinline u32 tls_control(int type)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u64 message = call_argument(regs, 2), address = 0;
	struct user_control control = {};

	if (regs_32_bit(regs) || call_octets(call_number(regs)) != OCTETS_MESSAGE)
		return 0;
	/* msg_control follows what is known of a message. */
	if (!buffer_read_user(&address, sizeof(address), message + sizeof(struct user_msghdr)) ||
	    !address || !buffer_read_user(&control, sizeof(control), address))
		return 0;
	return control.level == SOL_TLS && control.type == type ? control.record & 0xff : 0;
}

#endif
