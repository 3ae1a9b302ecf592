/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The requests of a datagram server's socket: several may wait in it or be
 * worked on at the same time. A datagram that is sent answers the oldest of
 * those that were received last in a row, then one that is older. What was not
 * answered in time is forgotten, so that lost requests do not shift the others.
 */
#ifndef DATAGRAM_BPF_H
#define DATAGRAM_BPF_H

#include "exchange.bpf.h"

#define DATAGRAMS_ARRIVED 256 /* small ones that a socket holds by default */
#define DATAGRAMS_OPEN 256
#define DATAGRAMS_TRIES 8
#define DATAGRAMS_TIMEOUT_NS 5000000000ULL

struct datagram {
	u64 requested_ns; /* 0: answered */
	u64 arrived_ns;
};

/* Rings; heads and tails only grow. */
struct datagrams {
	u32 arrived_head, arrived_tail;
	u32 open_head, run_head, open_tail;
	u32 responded; /* since the last receive */
	bool responds; /* has it ever? */
	u64 walked_ns; /* up to here, the time in progress and that of waiting is in the row */
	u64 arrived_ns[DATAGRAMS_ARRIVED];
	struct datagram requests[DATAGRAMS_OPEN];
};

/* So many have come unseen, and wait: since when is not known. */
static __always_inline void datagrams_init(struct datagrams *d, u32 count)
{
	__sync_fetch_and_add(&d->arrived_tail, count);
}

static __always_inline void datagrams_arrive(struct datagrams *d, u64 now)
{
	u32 at = __sync_fetch_and_add(&d->arrived_tail, 1);

	d->arrived_ns[at % DATAGRAMS_ARRIVED] = now;
}

/* When the one that is received now came, 0: not known. more: others wait. */
static __always_inline u64 datagrams_arrived(struct datagrams *d, bool more)
{
	u32 head = d->arrived_head, tail = d->arrived_tail;
	u64 arrived_ns;

	if (tail - head > DATAGRAMS_ARRIVED)
		head = tail - DATAGRAMS_ARRIVED;
	/* It was the last: of those before, somebody has received unseen. */
	if (!more && head != tail)
		head = tail - 1;
	arrived_ns = head == tail ? 0 : d->arrived_ns[head % DATAGRAMS_ARRIVED];
	d->arrived_head = more && head != tail ? head + 1 : tail;
	return arrived_ns;
}

/* Returns when it came, 0: not known. */
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

/* Takes the oldest of the ring from *head on; false: there is none. */
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

/* The request that a datagram answers which is sent now; false: none, it goes on. */
static __always_inline bool datagrams_respond(struct datagrams *d, u64 now, struct exchange *e)
{
	d->responded = 1;
	d->responds = true;
	return datagrams_claim(d, &d->run_head, now, e) ||
	       datagrams_claim(d, &d->open_head, now, e);
}

/* Of one that is out of its ring: the time up to now that no walk has added. */
static __always_inline u64 datagrams_unsettled(struct datagrams *d, u64 since_ns, u64 now)
{
	u64 walked_ns = *(volatile u64 *)&d->walked_ns;

	return span_ns(since_ns > walked_ns ? since_ns : walked_ns, now);
}

#endif
