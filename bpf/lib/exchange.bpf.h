/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How far a socket's exchange is. One side asks, the other answers: to a server
 * what it receives is the request, to a client what it sends. An exchange
 * begins with the first call that asks, is counted with the first that answers
 * and ends before the next that asks. One that goes on for long with pauses is a
 * stream: what it takes is no latency.
 */
#ifndef EXCHANGE_BPF_H
#define EXCHANGE_BPF_H

#include "metric.bpf.h"

enum exchange_phase {
	PHASE_IDLE,
	PHASE_REQUESTED,
	PHASE_RESPONDED,
	PHASE_REQUEST_STREAM, /* not answered yet */
	PHASE_RESPONSE_STREAM /* until the next call that asks */
};

struct exchange {
	u32 phase;
	u32 service_bucket; /* where it is counted, while the answer goes on */
	u32 response_bucket;
	u32 class; /* of a server's answer, see response.bpf.h */
	u64 requested_ns;
	u64 arrived_ns;   /* when the request came to the socket, 0: not known */
	u64 responded_ns; /* the first answer */
	u64 settled_ns;   /* up to here, the time in progress is in the row */
};

static __always_inline u64 span_ns(u64 from_ns, u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* A call that asks; true: with it a new exchange begins. */
static __always_inline bool exchange_request(struct exchange *e, u64 now)
{
	if (e->phase == PHASE_REQUESTED || e->phase == PHASE_REQUEST_STREAM)
		return false;
	e->requested_ns = now;
	e->arrived_ns = 0;
	/* Orders: whoever sees the phase sees this time. */
	__sync_lock_test_and_set(&e->settled_ns, now);
	e->phase = PHASE_REQUESTED;
	return true;
}

/* Adds the time up to now that nobody has added yet. A walk over the sockets does so, too, by
 * compare and swap: no time counts twice. */
static __always_inline void exchange_settle(struct exchange *e, u64 *in_progress_ns, u64 now)
{
	add(in_progress_ns, span_ns(__sync_lock_test_and_set(&e->settled_ns, now), now));
}

/* The first sample of a time that may grow. */
static __always_inline u32 exchange_count(struct hist *h, u64 value)
{
	u32 bucket = hist_index(value);

	hist_count(h, bucket, 1);
	return bucket;
}

/* It has grown: its sample moves to where it belongs now. */
static __always_inline u32 exchange_move(struct hist *h, u32 bucket, u64 value)
{
	u32 now = hist_index(value);

	if (now != bucket) {
		hist_count(h, bucket, -1);
		hist_count(h, now, 1);
	}
	return now;
}

#endif
