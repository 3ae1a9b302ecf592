/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The phase of the exchange on a socket. One side sends requests, the other responses: for a
 * server what it receives is the request, for a client what it sends. An exchange starts with the
 * first call of a request and is counted with the first call of the response. One that goes on for
 * long with pauses is a stream: its duration is no latency.
 *
 * A response ends before the next request, with the connection, or when nothing more of it has come
 * for an interval. Its length is counted with the first call and moves with each further one. A
 * walk at a reading withdraws it while the response may go on, so that no reading has a length that
 * is not final: then it is counted when the response ends.
 */
#ifndef EXCHANGE_BPF_H
#define EXCHANGE_BPF_H

#include "metric.bpf.h"
#include "services/service_response.bpf.h"

enum exchange_phase {
	PHASE_IDLE,
	PHASE_REQUESTED,
	PHASE_RESPONDED,
	PHASE_REQUEST_STREAM,  /* no response yet */
	PHASE_RESPONSE_STREAM, /* until the next request */
	PHASE_UNASKED,         /* the server has sent without a request, see unasked.bpf.h */
	PHASE_ACKNOWLEDGED     /* and the client may have acknowledged that */
};

/* Where histograms count the length of a response: 1 + the bucket of the time since the request,
 * and LENGTH_SHIFT bits above it the same since the request's arrival, 0: unknown. */
#define LENGTH_SHIFT 16
#define LENGTH_WITHDRAWN 0 /* a walk has withdrawn it */
#define LENGTH_FINAL ~0U   /* it has been counted for good */

/* Are there histograms of the time since the first receive? */
const volatile bool collects_requests_service_first, collects_requests_service;

struct exchange {
	u32 phase;
	u32 length;      /* as above */
	u32 class;       /* of a server's response, see response.bpf.h */
	bool pushed;     /* during the response the server has sent what may be something else */
	u32 before_push; /* length that it had before */
	u32 undecided;   /* length including that, 0: it is known which of the two counts */
	u64 requested_ns;
	u64 arrived_ns;   /* when the request arrived in the socket, 0: unknown */
	u64 responded_ns; /* first call of the response */
	u64 settled_ns;   /* until then the time in progress is in the row */
};

static __always_inline u64 span_ns(u64 from_ns, u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Sets it before what is stored later. x86 keeps the order of stores, others need a full barrier. */
static __always_inline void store_before(u64 *at, u64 value)
{
#ifdef __TARGET_ARCH_x86
	*(volatile u64 *)at = value;
	barrier();
#else
	__sync_lock_test_and_set(at, value);
#endif
}

/* A call of a request. true: it starts a new exchange. */
static __always_inline bool exchange_request(struct exchange *e, u64 now)
{
	if (e->phase == PHASE_REQUESTED || e->phase == PHASE_REQUEST_STREAM)
		return false;
	e->requested_ns = now;
	e->arrived_ns = 0;
	store_before(&e->settled_ns, now); /* whoever sees the phase sees this time */
	e->phase = PHASE_REQUESTED;
	return true;
}

/* Returns the time until now that nobody has added yet, for the caller to add. A walk over the
 * sockets does so, too, by compare and swap: no time counts twice. */
static __always_inline u64 exchange_unsettled(struct exchange *e, u64 now)
{
	return span_ns(__sync_lock_test_and_set(&e->settled_ns, now), now);
}

static __always_inline void exchange_settle(struct exchange *e, u64 *in_progress_ns, u64 now)
{
	add(in_progress_ns, exchange_unsettled(e, now));
}

/* --- length of the response --- */

static __always_inline bool length_needs_service(void)
{
	return collects_requests_service || collects_requests_service_first || responses_wanted;
}

static __always_inline u32 length_until(const struct exchange *e, u64 now)
{
	u32 response, service;

	if (!e->arrived_ns)
		return 1 + hist_index(now - e->requested_ns);
	response = (1 + hist_index(now - e->arrived_ns)) << LENGTH_SHIFT;
	service = length_needs_service() ? 1 + hist_index(now - e->requested_ns) : 1;
	return response | service;
}

/* Bucket of the time since the request. */
static __always_inline u32 length_service(u32 length)
{
	return (length & ((1U << LENGTH_SHIFT) - 1)) - 1;
}

/* The same since its arrival; no bucket: unknown. */
static __always_inline u32 length_response(u32 length)
{
	return (length >> LENGTH_SHIFT) - 1;
}

static __always_inline bool length_is_counted(u32 length)
{
	return length != LENGTH_WITHDRAWN && length != LENGTH_FINAL;
}

/* The response has ended. true: the caller has to count its length, up to settled_ns. */
static __always_inline bool length_finish(struct exchange *e)
{
	return __sync_lock_test_and_set(&e->length, LENGTH_FINAL) == LENGTH_WITHDRAWN;
}

/* It seems to have ended, but may go on. true: as above, *ret_length. */
static __always_inline bool length_put_back(struct exchange *e, u32 *ret_length)
{
	*ret_length = length_until(e, e->settled_ns);
	return __sync_val_compare_and_swap(&e->length, LENGTH_WITHDRAWN, *ret_length) ==
	       LENGTH_WITHDRAWN;
}

/* The response goes on. Returns the length that it had, which the caller has to move to *ret_length;
 * LENGTH_WITHDRAWN: none. */
static __always_inline u32 length_move(struct exchange *e, u64 now, u32 *ret_length)
{
	u32 was = *(volatile u32 *)&e->length;

	*ret_length = length_until(e, now);
	if (!length_is_counted(was) || was == *ret_length ||
	    __sync_val_compare_and_swap(&e->length, was, *ret_length) != was)
		return LENGTH_WITHDRAWN;
	return was;
}

/* Withdraws it. Returns the length that the caller has to remove, LENGTH_WITHDRAWN: none. */
static __always_inline u32 length_withdraw(struct exchange *e, u32 then)
{
	u32 was = __sync_lock_test_and_set(&e->length, then);

	return was == LENGTH_FINAL ? LENGTH_WITHDRAWN : was;
}

#endif
