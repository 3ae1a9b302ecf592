/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Handshakes of TLS with a server. A client that opens a connection for a request waits while its
 * handshake waits in the accept queue, so that the connection's first request has waited for as
 * long: its arrival is put back by the time that the messages of the handshake have spent at the
 * server, from their arrival to the first send in response. The time in which the server waits for
 * the client is not in it: a connection that is opened in advance waits for nobody. The client's
 * last message is not in it where no response is due: in 1.3, and where 1.2 resumes a session.
 */
#ifndef TLS_HANDSHAKE_BPF_H
#define TLS_HANDSHAKE_BPF_H

#include "request.bpf.h"
#include "tls_hello.bpf.h"

static void handshake_begin(struct conversation *c, u64 now)
{
	c->handshake.began_ns = c->ready_ns ?: now;
	hello_begin(&c->handshake.hello);
}

/* The client's Finished has come. */
static __noinline void handshake_end(struct conversation *c, u64 now)
{
	struct request_row *row = conversation_row(c);

	if (!row)
		return;
	add(&row->handshakes, 1);
	add(&row->handshake_ns, span_ns(c->handshake.began_ns, now));
	c->handshake.began_ns = 0;
}

/* HTTP/2 inside TLS: requests cannot be told apart. */
static __noinline void handshake_unread(struct conversation *c)
{
	struct request_row *row = conversation_row(c);

	c->handshake.hello.choice = TLS_CHOSEN;
	if (row)
		add(&row->unread, 1);
}

/* Messages have come that the server is to respond to. */
static __noinline void handshake_wait(struct conversation *c, u64 now)
{
	struct request_row *row = conversation_row(c);
	struct handshake *h = &c->handshake;
	u64 arrived_ns = c->ready_ns && c->ready_ns < now ? c->ready_ns : now;
	u64 waited_ns = __sync_lock_test_and_set(&c->waited_ns, arrived_ns);

	if (arrived_ns < h->received_ns)
		arrived_ns = h->received_ns;
	if (row)
		add(&row->waiting_ns,
		    span_ns(waited_ns > arrived_ns ? waited_ns : arrived_ns, now));
	h->server_ns += span_ns(arrived_ns, now);
	h->received_ns = now;
}

/* Before records of the client are walked over. */
static __always_inline void handshake_inspect(struct conversation *c, struct moved *m)
{
	if (c->handshake.hello.choice != TLS_CLIENT_HELLO)
		return;
	moved_find(m, c->served.sk);
	tls_client_hello(&c->handshake.hello, m);
}

static __always_inline bool handshake_is_done(const struct conversation *c)
{
	return c->tls.state == TLS_OPEN_1_2 || c->tls.state == TLS_OPEN_1_3;
}

/* The client's records are no request. */
static __always_inline void handshake_receives(struct conversation *c, u64 now)
{
	if (!c->handshake.began_ns && !c->handshake.received_ns)
		return;
	if (c->tls.message || c->handshake.received_ns)
		handshake_wait(c, now);
	c->tls.message = false;
	if (c->handshake.began_ns && handshake_is_done(c))
		handshake_end(c, now);
}

/* What the server has received when it sends has an arrival time of its own. */
static __noinline void handshake_respond(struct conversation *c, u64 now)
{
	struct request_row *row = conversation_row(c);
	struct handshake *h = &c->handshake;
	u64 end_ns = c->ready_ns && c->ready_ns < now ? c->ready_ns : now;
	u64 spent_ns = span_ns(h->received_ns, end_ns);

	h->received_ns = 0;
	h->server_ns += spent_ns;
	if (row)
		add(&row->waiting_ns, spent_ns);
}

/* The server has sent what is no response. */
static __always_inline void handshake_sends(struct conversation *c, struct moved *m)
{
	struct tls_hello *hello = &c->handshake.hello;

	if (c->handshake.received_ns)
		handshake_respond(c, m->now);
	if (hello->choice == TLS_CLIENT_HELLO)
		hello->choice = TLS_CHOSEN;
	if (hello->choice != TLS_OFFERED && hello->choice != TLS_EXTENSIONS)
		return;
	if (moved_find(m, c->served.sk) && tls_server_flight(hello, m))
		handshake_unread(c);
}

/* The first request has waited since before the handshake; what waited meanwhile is in the row. */
static __noinline void handshake_precede(struct conversation *c, u64 now)
{
	u64 ready_ns = c->ready_ns;

	if (c->exchange.phase != PHASE_IDLE) {
		c->handshake.server_ns = 0;
	} else if (ready_ns && ready_ns < now) {
		if (c->waited_ns < ready_ns)
			__sync_lock_test_and_set(&c->waited_ns, ready_ns);
		c->ready_ns = ready_ns - c->handshake.server_ns;
	}
}

static __noinline void handshake_check_settings(struct conversation *c)
{
	struct tls_hello *hello = &c->handshake.hello;

	if (c->tls.short_first && c->exchange.phase != PHASE_IDLE)
		handshake_unread(c);
	else if (!--hello->records)
		hello->choice = TLS_CHOSEN;
}

/* The client's records belong to a request. */
static __always_inline void handshake_requests(struct conversation *c, u64 now)
{
	struct handshake *h = &c->handshake;

	if (h->began_ns && handshake_is_done(c))
		handshake_end(c, now);
	h->received_ns = 0;
	if (h->hello.choice == TLS_SETTINGS)
		handshake_check_settings(c);
	if (h->server_ns)
		handshake_precede(c, now);
}

/* A response starts: a client that sent a certificate may have ended the handshake unnoticed. */
static __always_inline void handshake_responds(struct conversation *c)
{
	if (c->handshake.began_ns)
		handshake_end(c, c->exchange.requested_ns);
}

#endif
