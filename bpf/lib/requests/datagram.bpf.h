/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The requests of a datagram server's socket, several of which may wait or be in progress at the
 * same time. A datagram that is sent responds to the oldest of the requests that were last
 * received in a row, then to an older one. Requests without a response in time are dropped, so
 * that lost ones do not shift the others.
 */
#ifndef DATAGRAM_BPF_H
#define DATAGRAM_BPF_H

#include "exchange.bpf.h"

#define DATAGRAMS_ARRIVED 256 /* small ones that fit into a default socket buffer */
#define DATAGRAMS_OPEN 256
#define DATAGRAMS_TRIES 8
#define DATAGRAMS_TIMEOUT_NS 5000000000ULL

struct datagram {
	u64 requested_ns; /* 0: a response was sent */
	u64 arrived_ns;
};

/* Rings; heads and tails only grow. */
struct datagrams {
	u32 arrived_head, arrived_tail;
	u32 open_head, run_head, open_tail;
	u32 responded; /* since the last receive */
	bool responds; /* has ever responded */
	u64 walked_ns; /* until then the times in progress and waiting are in the row */
	u64 arrived_ns[DATAGRAMS_ARRIVED];
	struct datagram requests[DATAGRAMS_OPEN];
};

/* count datagrams that wait arrived unseen: their arrival times stay 0, unknown. */
static __always_inline void datagrams_init(struct datagrams *d, u32 count)
{
	__sync_fetch_and_add(&d->arrived_tail, count);
}

static __always_inline void datagrams_arrive(struct datagrams *d, u64 now)
{
	u32 at = __sync_fetch_and_add(&d->arrived_tail, 1);

	d->arrived_ns[at % DATAGRAMS_ARRIVED] = now;
}

/* Arrival time of the datagram that is being received, 0: unknown. more: others wait. */
static __always_inline u64 datagrams_arrived(struct datagrams *d, bool more)
{
	u32 head = d->arrived_head, tail = d->arrived_tail;
	u64 arrived_ns;

	if (tail - head > DATAGRAMS_ARRIVED)
		head = tail - DATAGRAMS_ARRIVED;
	/* The last one was received: those before it were received unseen. */
	if (!more && head != tail)
		head = tail - 1;
	arrived_ns = head == tail ? 0 : d->arrived_ns[head % DATAGRAMS_ARRIVED];
	d->arrived_head = more && head != tail ? head + 1 : tail;
	return arrived_ns;
}

/* Adds a request. Returns its arrival time, 0: unknown. */
static __always_inline u64 datagrams_receive(struct datagrams *d, u64 now, bool more)
{
	u64 arrived_ns = datagrams_arrived(d, more);
	u32 at = __sync_fetch_and_add(&d->open_tail, 1);
	struct datagram *request = &d->requests[at % DATAGRAMS_OPEN];

	if (d->responded)
		d->run_head = at;
	d->responded = 0;
	if (at + 1 - d->open_head > DATAGRAMS_OPEN)
		d->open_head = at + 1 - DATAGRAMS_OPEN;
	if (arrived_ns >= now)
		arrived_ns = 0;
	request->arrived_ns = arrived_ns;
	request->requested_ns = now;
	return arrived_ns;
}

/* Claims the oldest request of the ring from *head on. false: there is none. */
static __noinline bool datagrams_claim(struct datagrams *d, u32 *head, u64 now, struct exchange *e)
{
	for (u32 i = 0; i < DATAGRAMS_TRIES; i++) {
		u32 at = *(volatile u32 *)head;
		struct datagram *request = &d->requests[at % DATAGRAMS_OPEN];
		u64 arrived_ns = request->arrived_ns, requested_ns;

		if ((s32)(d->open_tail - at) <= 0)
			return false;
		*head = at + 1;
		requested_ns = __sync_lock_test_and_set(&request->requested_ns, 0);
		if (!requested_ns || now - requested_ns > DATAGRAMS_TIMEOUT_NS)
			continue;
		e->requested_ns = requested_ns;
		e->arrived_ns = arrived_ns;
		return true;
	}
	return false;
}

/* Claims the request to which a datagram that is sent now responds. false: none, it continues a
 * response. */
static __always_inline bool datagrams_respond(struct datagrams *d, u64 now, struct exchange *e)
{
	d->responded = 1;
	d->responds = true;
	return datagrams_claim(d, &d->run_head, now, e) ||
	       datagrams_claim(d, &d->open_head, now, e);
}

/* For a request that was removed from its ring: the time until now that no walk has added. */
static __always_inline u64 datagrams_unsettled(struct datagrams *d, u64 since_ns, u64 now)
{
	u64 walked_ns = *(volatile u64 *)&d->walked_ns;

	return span_ns(since_ns > walked_ns ? since_ns : walked_ns, now);
}

#endif
