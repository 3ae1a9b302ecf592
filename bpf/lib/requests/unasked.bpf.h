/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What a server sends without a request, and how the client acknowledges it.
 *
 * A send is unasked if its connection has no request in progress and the last response has ended,
 * or if it follows an acknowledgement. A connection with UNASKED_MAX unasked sends that nobody has
 * acknowledged is full-duplex until it is closed: neither side responds. So is one that HTTP/1 has
 * handed over with status 101, if it is not HTTP/2. Some are missed: collectd-ebpf-metrics(7) says
 * "The status is not seen inside TLS or after the second request".
 *
 * A short message of the client is an acknowledgement if it comes soon after an unasked send, and the
 * server's next send much later than that. Some are missed: collectd-ebpf-metrics(7) says "A longer
 * one counts as a request, and so does that of a subscriber for whom the next message already waits".
 * If a connection starts with a word in capitals and a space, as in HTTP, nothing is acknowledged. In
 * STOMP, AMQP and MQTT, what follows a pause in a response may be unasked; the next message shows it.
 * STOMP does not respond to a subscription, so there each short message may be an acknowledgement.
 */
#ifndef UNASKED_BPF_H
#define UNASKED_BPF_H

#include "length.bpf.h"

#define UNASKED_MAX 3
#define UNASKED_PAUSE_NS 1000000 /* between two: pieces of one come faster */
#define PUSH_PAUSE_NS 20000000   /* in a response: what follows may be unasked */
#define ACKNOWLEDGEMENT_MAX 128  /* bytes */
#define ACKNOWLEDGEMENT_FACTOR 4 /* how much later than the acknowledgement the next send comes */
#define DOUBTS_MAX 3             /* turns in a row that came sooner: there are none */

/* --- full-duplex connections --- */

/* What is in progress ends. */
static __noinline void full_duplex_begin(struct conversation *c, struct request_row *row)
{
	end_response(c, row);
	c->exchange.phase = PHASE_IDLE;
	c->exchange.pushed = false;
	c->unsent = 0;
	c->inspection.sent = true;
	c->protocol = PROTOCOL_FULL_DUPLEX;
}

/* Counts turns by their receives. Always true: nothing else is to be done. */
static __noinline bool full_duplex_receives(struct conversation *c, u64 bytes, bool more, u64 now)
{
	struct request_row *row = count_receive(c, bytes, now);

	if (row && c->inspection.sent) {
		add(&row->full_duplex, 1);
		c->inspection.sent = false;
	}
	c->ready_ns = more ? c->latest_ns : 0;
	serve_beside(&c->served);
	return true;
}

static __noinline bool full_duplex_sends(struct conversation *c, u64 bytes, u64 now)
{
	count_send(c, bytes, now);
	c->inspection.sent = true;
	serve_beside(&c->served);
	return true;
}

/* --- unasked sends --- */

static __noinline void send_unasked(struct conversation *c, struct request_row *row, u64 now)
{
	struct exchange *e = &c->exchange;
	bool goes_on = e->phase == PHASE_UNASKED && span_ns(e->settled_ns, now) < UNASKED_PAUSE_NS;

	if (e->phase != PHASE_UNASKED)
		add(&row->streams, 1);
	e->phase = PHASE_UNASKED;
	e->pushed = true;
	e->settled_ns = now;
	serve_beside(&c->served);
	if (!goes_on && ++c->unasked >= UNASKED_MAX)
		full_duplex_begin(c, row);
}

/* --- acknowledgements --- */

/* A response goes on after a pause. */
static __noinline void note_push(struct exchange *e)
{
	if (!e->before_push)
		e->before_push = length_until(e, e->settled_ns);
	e->pushed = true;
}

/* A response has ended in which something was pushed: whether that belongs to it is not known
 * yet. */
static __always_inline void defer_length(struct conversation *c, struct request_row *row)
{
	struct exchange *e = &c->exchange;

	if (e->phase != PHASE_RESPONDED || e->length == LENGTH_FINAL)
		return;
	e->undecided = length_until(e, e->settled_ns);
	withdraw_length(c, row, LENGTH_FINAL);
}

static __always_inline void decide_length(struct conversation *c, struct request_row *row,
					  bool is_pushed)
{
	u32 whole = __sync_lock_test_and_set(&c->exchange.undecided, 0);

	if (whole)
		count_withdrawn(c, row, is_pushed ? c->exchange.before_push : whole);
	c->exchange.before_push = 0;
}

/* No send follows: the last message, if it may have been an acknowledgement, was one. */
static __noinline void end_acknowledgement(struct conversation *c, struct request_row *row)
{
	if (__sync_val_compare_and_swap(&c->exchange.phase, PHASE_ACKNOWLEDGED, PHASE_UNASKED) !=
	    PHASE_ACKNOWLEDGED)
		return;
	add(&row->acknowledgements, 1);
	decide_length(c, row, true);
}

/* Not a further piece of the message that may be an acknowledgement. */
static __always_inline bool is_next_message(const struct exchange *e, u64 now)
{
	return e->phase != PHASE_ACKNOWLEDGED || span_ns(e->requested_ns, now) > UNASKED_PAUSE_NS;
}

/* A message after a send that may be unasked. true: it may acknowledge that, which the next send
 * shows. */
static __noinline bool may_acknowledge(struct conversation *c, struct request_row *row, u64 bytes,
				       u64 now)
{
	struct exchange *e = &c->exchange;

	if (e->phase == PHASE_REQUESTED || e->phase == PHASE_REQUEST_STREAM)
		return false;
	if (bytes > ACKNOWLEDGEMENT_MAX || c->inspection.is_text) {
		end_acknowledgement(c, row);
		e->pushed = c->inspection.is_stomp;
		return false;
	}
	if (!is_next_message(e, now))
		return true;
	end_acknowledgement(c, row);
	if (c->doubts || !e->before_push)
		end_response(c, row);
	else
		defer_length(c, row);
	if (c->ready_ns && c->ready_ns < now)
		end_wait(c, row, now);
	else
		e->arrived_ns = 0;
	e->requested_ns = now;
	e->phase = PHASE_ACKNOWLEDGED;
	c->unasked = 0;
	serve_beside(&c->served);
	return true;
}

/* A send after such a message. true: it was an acknowledgement; otherwise it was a request. */
static __noinline bool was_acknowledged(struct conversation *c, struct request_row *row, u64 now)
{
	struct exchange *e = &c->exchange;
	u64 acknowledged_ns = span_ns(e->settled_ns, e->requested_ns);

	if (span_ns(e->requested_ns, now) > ACKNOWLEDGEMENT_FACTOR * acknowledged_ns) {
		end_acknowledgement(c, row);
		c->doubts = 0;
		e->settled_ns = now;
		serve_beside(&c->served);
		return true;
	}
	decide_length(c, row, false);
	if (++c->doubts >= DOUBTS_MAX) {
		c->doubts = 0;
		e->pushed = c->inspection.is_stomp;
	}
	__sync_lock_test_and_set(&e->settled_ns, e->requested_ns);
	e->phase = PHASE_REQUESTED;
	return false;
}

#endif
