/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Connections with TLS: finds the exchanges from the records of the client. Records that belong to
 * no exchange only count as bytes, and as a receive or a send; those of a handshake also as a wait.
 */
#ifndef TLS_BPF_H
#define TLS_BPF_H

#include "request.bpf.h"
#include "tls_handshake.bpf.h"

/* An exchange that has been started, if any, was none. */
static void tls_cancel_request(struct conversation *c)
{
	c->exchange.phase = PHASE_IDLE;
	serve_drop(&c->served);
}

/* Do these bytes of a client belong to a request? control: the control message by which TLS in the
 * kernel reports the type of a record. */
static __noinline bool tls_is_request(struct conversation *c, struct moved *m, int control)
{
	bool in_kernel = tls_in_kernel((const struct sock *)c->served.sk);
	bool requested = c->exchange.phase == PHASE_REQUESTED;
	u32 type = in_kernel ? tls_control(control) : 0;
	int what = TLS_RECORDS_LOST;

	if (type == TLS_HANDSHAKE && c->tls.state == TLS_CHANGED)
		c->tls.state = TLS_OPEN_1_2;
	if (type)
		return type == TLS_DATA;
	if (!c->unseen && moved_find(m, c->served.sk))
		what = tls_walk(&c->tls, m, requested);
	if (what == TLS_RECORDS_PROOF && requested)
		tls_cancel_request(c);
	if (what != TLS_RECORDS_LOST)
		return what == TLS_RECORDS_DATA;
	if (in_kernel)
		c->tls.state = TLS_OPEN_DATA;
	else
		c->protocol = PROTOCOL_ALTERNATING;
	return true;
}

/* What came before is over, or was a PROXY header. */
static void tls_begin(struct conversation *c, u64 now)
{
	c->protocol = PROTOCOL_TLS;
	c->unseen = false;
	tls_cancel_request(c);
	if (c->role != ROLE_CLIENT)
		handshake_begin(c, now);
}

/* Does what a server has sent belong to a response? If it cannot be read (sendfile), it does. */
static bool tls_sends_response(struct conversation *c, struct moved *m)
{
	u32 type = 0;

	/* No request is open. */
	if (c->exchange.phase == PHASE_IDLE)
		return false;
	if (tls_in_kernel((const struct sock *)c->served.sk))
		type = tls_control(TLS_SET_RECORD_TYPE);
	if (type)
		return type == TLS_DATA;
	return !moved_find(m, c->served.sk) ||
	       tls_is_response(&c->tls, m, c->exchange.phase != PHASE_REQUESTED);
}

/* Does what a service has received as a client belong to a response? After the handshake, all
 * records but alerts do. */
static bool tls_receives_response(struct conversation *c, struct moved *m)
{
	u32 type = 0;
	int what = TLS_RECORDS_LOST;

	if (tls_in_kernel((const struct sock *)c->served.sk))
		type = tls_control(TLS_GET_RECORD_TYPE);
	if (type)
		return type == TLS_DATA;
	if (c->tls_responses.state < TLS_OPEN_1_3)
		c->tls_responses.state = TLS_OPEN_1_3;
	if (!c->unseen && moved_find(m, c->served.sk))
		what = tls_walk(&c->tls_responses, m, false);
	if (what == TLS_RECORDS_LOST)
		c->tls_responses.state = TLS_OPEN_DATA;
	return what != TLS_RECORDS_OTHER;
}

/* true: counted here. Records that belong to an exchange are counted by the caller. */
static __always_inline bool tls_receives(struct conversation *c, const struct sock *sk,
					 struct moved *m)
{
	struct client_row *row;

	if (c->role == ROLE_CLIENT) {
		row = tls_receives_response(c, m) ? NULL : client_row(slot_index(c->cache.slot));
		if (row)
			add(&row->rx_bytes, m->end);
		return row;
	}
	handshake_inspect(c, m);
	if (tls_is_request(c, m, TLS_GET_RECORD_TYPE)) {
		handshake_requests(c, m->now);
		return false;
	}
	handshake_receives(c, m->now);
	count_receive(c, m->end, m->now);
	if (!c->tls.received)
		c->ready_ns = socket_has_more(sk) ? c->latest_ns : 0;
	return true;
}

static __always_inline bool tls_sends(struct conversation *c, struct moved *m)
{
	struct client_row *row;

	if (c->role == ROLE_CLIENT) {
		row = tls_is_request(c, m, TLS_SET_RECORD_TYPE)
			      ? NULL
			      : client_row(slot_index(c->cache.slot));
		if (row)
			add(&row->tx_bytes, m->end);
		return row;
	}
	if (tls_sends_response(c, m)) {
		handshake_responds(c);
		return false;
	}
	handshake_sends(c, m);
	return count_send(c, m->end, m->now);
}

#endif
