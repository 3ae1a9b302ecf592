/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Counts the calls on a socket, for the hooks of bpf/request.bpf.c.
 */
#ifndef REQUEST_BPF_H
#define REQUEST_BPF_H

#include "length.bpf.h"
#include "unasked.bpf.h"

static __always_inline void respond_first(struct exchange *e, struct request_row *row, u64 now)
{
	u32 length = length_until(e, now);

	add(&row->exchanges, 1);
	e->responded_ns = now;
	count_length(row, length, 1);
	if (collects_requests_service_first)
		hist_count(&row->service_first, length_service(length), 1);
	if (collects_requests_wait && e->arrived_ns)
		hist_count(&row->wait, hist_index(e->requested_ns - e->arrived_ns), 1);
	e->length = length;
}

/* A send on a stream, or without a request. was_empty: socket_was_empty(). false: it is neither. */
static __noinline bool respond_on_stream(struct conversation *c, struct request_row *row,
					 bool was_empty, u32 class, u64 now)
{
	struct exchange *e = &c->exchange;

	if (e->phase == PHASE_REQUEST_STREAM) {
		e->phase = PHASE_RESPONSE_STREAM;
		add(&row->exchanges, 1);
		if (class)
			response_count(c->cache.row, class, HIST_BUCKETS);
	} else if (e->phase == PHASE_UNASKED ||
		   (e->phase == PHASE_RESPONDED && e->length == LENGTH_FINAL)) {
		send_unasked(c, row, now);
		return true;
	} else if (e->phase == PHASE_RESPONDED && was_empty) {
		e->phase = PHASE_RESPONSE_STREAM;
		add(&row->streams, 1);
		withdraw_length(c, row, LENGTH_FINAL);
	}
	return e->phase == PHASE_RESPONSE_STREAM;
}

/* Any send of a response but the first. */
static __always_inline void respond_again(struct conversation *c, struct request_row *row,
					  const struct sock *sk, u64 bytes, u64 now, u32 class)
{
	struct exchange *e = &c->exchange;

	if (e->phase == PHASE_IDLE) {
		/* The request was received unseen, for instance by a call that is older than the
		 * probe. */
		c->ready_ns = 0;
		return;
	}
	if ((e->phase != PHASE_RESPONDED || e->length == LENGTH_FINAL ||
	     is_long(e->responded_ns, now)) &&
	    respond_on_stream(c, row, socket_was_empty(sk, bytes), class, now))
		return;
	if (c->inspection.is_broker && span_ns(e->settled_ns, now) > PUSH_PAUSE_NS &&
	    socket_was_empty(sk, bytes))
		note_push(e);
	exchange_settle(e, &row->in_progress_ns, now);
	extend_response(c, row, now);
	serve_respond_again(&c->served, now);
}

/* Class of what is sent, if it starts a response. */
static __always_inline u32 classify(const struct conversation *c, u64 bytes)
{
	u32 phase = c->exchange.phase;

	if (!responses_wanted || !c->classified ||
	    (!c->datagrams && phase != PHASE_REQUESTED && phase != PHASE_REQUEST_STREAM))
		return CLASS_NONE;
	return response_classify(c->cache.row, c->served.sk, bytes, !c->datagrams);
}

/* The first send of the response to a datagram. Another thread may respond on the same socket, so
 * the exchange is built apart. false: it responds to none. */
static __always_inline bool respond_datagram(struct conversation *c, struct datagrams *d,
					     struct request_row *row, u32 class, u64 now)
{
	struct exchange taken = { .settled_ns = now, .class = class };

	if (!datagrams_respond(d, now, &taken))
		return false;
	taken.phase = PHASE_RESPONDED;
	add(&row->in_progress_ns, datagrams_unsettled(d, taken.requested_ns, now));
	respond_first(&taken, row, now);
	if (class)
		response_count(c->cache.row, class, length_service(taken.length));
	c->exchange = taken;
	return true;
}

static __always_inline void respond(struct conversation *c, struct datagrams *d,
				    struct request_row *row, const struct sock *sk, u64 bytes,
				    u64 now)
{
	u32 class;

	if (c->exchange.phase == PHASE_ACKNOWLEDGED && was_acknowledged(c, row, now))
		return;
	class = classify(c, bytes);
	if (class == CLASS_INTERIM)
		return;
	if (d && respond_datagram(c, d, row, class, now)) {
		/* It is counted. */
	} else if (c->exchange.phase == PHASE_REQUESTED) {
		c->exchange.class = class;
		exchange_settle(&c->exchange, &row->in_progress_ns, now);
		respond_first(&c->exchange, row, now);
		if (class)
			response_count(c->cache.row, class, length_service(c->exchange.length));
		c->exchange.phase = PHASE_RESPONDED;
	} else {
		if (!d || d->responder == current_thread())
			respond_again(c, row, sk, bytes, now, class);
		return;
	}
	serve_respond(&c->served, d, now);
}

/* A request that goes on without a response, such as a log that is shipped, becomes a stream and is
 * no longer in progress. */
static __noinline void request_again(struct exchange *e, struct request_row *row, u64 now)
{
	if (e->phase != PHASE_REQUESTED || !is_long(e->requested_ns, now))
		return;
	e->phase = PHASE_REQUEST_STREAM;
	add(&row->streams, 1);
}

/* Nothing can respond to what is received after shutdown(SHUT_WR). PHP leaves the end of each
 * FastCGI request in the socket until then. */
static __always_inline bool is_discarded(const struct conversation *c)
{
	const struct sock *sk = (const struct sock *)c->served.sk;

	return c->ready_ns < c->exchange.responded_ns &&
	       BPF_CORE_READ(sk, sk_shutdown) & SEND_SHUTDOWN;
}

static __always_inline void server_receives(struct conversation *c, struct datagrams *d, u64 bytes,
					    u32 more, u64 now)
{
	struct request_row *row = count_receive(c, bytes, now);
	u64 arrived_ns;

	if (!row)
		return;
	if (d) {
		arrived_ns = datagrams_receive(d, now, more);
		if (arrived_ns)
			add(&row->waiting_ns, datagrams_unsettled(d, arrived_ns, now));
		serve_begin(&c->served, arrived_ns ?: now, now);
		return;
	}
	if (c->exchange.pushed && may_acknowledge(c, row, bytes, now)) {
		c->ready_ns = more ? c->latest_ns : 0;
		return;
	}
	end_response(c, row);
	if (is_discarded(c))
		return;
	if (exchange_request(&c->exchange, now)) {
		if (c->ready_ns && c->ready_ns < now)
			end_wait(c, row, now);
		serve_begin(&c->served, c->exchange.arrived_ns ?: now, now);
	} else {
		request_again(&c->exchange, row, now);
		serve_again(&c->served, now);
	}
	c->ready_ns = more ? c->latest_ns : 0;
}

static __always_inline void server_sends(struct conversation *c, struct datagrams *d,
					 const struct sock *sk, u64 bytes, u64 now)
{
	struct request_row *row = count_send(c, bytes, now);

	if (row)
		respond(c, d, row, sk, bytes, now);
}

/* Data has arrived. Also before accept: the first request of a connection waits, too. */
static __always_inline void note_arrival(struct conversation *c, struct datagrams *d, u64 now)
{
	if (d) {
		datagrams_arrive(d, now);
		return;
	}
	c->latest_ns = now;
	if (!c->ready_ns)
		c->ready_ns = now;
}

#endif
