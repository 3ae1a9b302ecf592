/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The phase of the exchange on a socket. One side sends requests, the other responses: for a
 * server what it receives is the request, for a client what it sends. An exchange starts with the
 * first call of a request, is counted with the first call of the response and ends before the next
 * request. One that goes on for long with pauses is a stream: its duration is no latency.
 */
#ifndef EXCHANGE_BPF_H
#define EXCHANGE_BPF_H

#include "metric.bpf.h"

enum exchange_phase {
	PHASE_IDLE,
	PHASE_REQUESTED,
	PHASE_RESPONDED,
	PHASE_REQUEST_STREAM, /* no response yet */
	PHASE_RESPONSE_STREAM /* until the next request */
};

struct exchange {
	u32 phase;
	u32 service_bucket; /* of the histogram that counts it, while the response goes on */
	u32 response_bucket;
	u32 class; /* of a server's response, see response.bpf.h */
	u64 requested_ns;
	u64 arrived_ns;   /* when the request arrived in the socket, 0: unknown */
	u64 responded_ns; /* first call of the response */
	u64 settled_ns;   /* until then the time in progress is in the row */
};

static __always_inline u64 span_ns(u64 from_ns, u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* A call of a request. true: it starts a new exchange. */
static __always_inline bool exchange_request(struct exchange *e, u64 now)
{
	if (e->phase == PHASE_REQUESTED || e->phase == PHASE_REQUEST_STREAM)
		return false;
	e->requested_ns = now;
	e->arrived_ns = 0;
	/* Full barrier: whoever sees the phase sees this time. */
	__sync_lock_test_and_set(&e->settled_ns, now);
	e->phase = PHASE_REQUESTED;
	return true;
}

/* Adds the time until now that nobody has added yet. A walk over the sockets does so, too, by
 * compare and swap: no time counts twice. */
static __always_inline void exchange_settle(struct exchange *e, u64 *in_progress_ns, u64 now)
{
	add(in_progress_ns, span_ns(__sync_lock_test_and_set(&e->settled_ns, now), now));
}

/* Counts a duration that may still grow. Returns its bucket. */
static __always_inline u32 exchange_count(struct hist *h, u64 value)
{
	u32 bucket = hist_index(value);

	hist_count(h, bucket, 1);
	return bucket;
}

/* The duration has grown: moves its sample. Returns the new bucket. */
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
