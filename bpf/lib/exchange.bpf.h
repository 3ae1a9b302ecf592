/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How far a socket's exchange is. One side asks, the other answers: to a server
 * what it receives is the request, to a client what it sends. An exchange
 * begins with the first call that asks, is counted with the first that answers
 * and ends before the next that asks.
 */
#ifndef EXCHANGE_BPF_H
#define EXCHANGE_BPF_H

#include "metric.bpf.h"

enum phase { PHASE_IDLE, PHASE_ASKED, PHASE_ANSWERED };

struct exchange {
	u32 phase;
	u32 service_bucket; /* where it is counted, while the answer goes on */
	u32 response_bucket;
	u64 asked_ns;
	u64 arrived_ns; /* when the request came to the socket, 0: not known */
};

/* A call that asks; true: with it a new exchange begins. */
static __always_inline bool exchange_ask(struct exchange *e, u64 now)
{
	if (e->phase == PHASE_ASKED)
		return false;
	e->phase = PHASE_ASKED;
	e->asked_ns = now;
	e->arrived_ns = 0;
	return true;
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
