/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The requests of a datagram server's socket, several of which may wait or be in progress at the
 * same time, and which several threads or processes may receive. A datagram that is sent responds
 * to the oldest of the requests that its thread last received in a row, then to an older one of its
 * thread, then to the oldest of another thread. Requests without a response in time are dropped, so
 * that lost ones do not shift the others.
 *
 * Threads on several CPUs use this state at once. A request is one word, which one of them claims
 * by compare and swap. Its bit in the set of its receiver only says where to search: a request has
 * its bit, but a bit may be left without its request.
 *
 * Limits: of more than DATAGRAM_RECEIVERS threads with open requests, some share a set, and count
 * as one thread. More than DATAGRAMS_OPEN requests at once displace the oldest. The time that a
 * request has waited is rounded down by up to 1/2048.
 */
#ifndef DATAGRAM_BPF_H
#define DATAGRAM_BPF_H

#include "exchange.bpf.h"

#define DATAGRAMS_ARRIVED 256 /* small ones that fit into a default socket buffer */
#define DATAGRAMS_AHEAD 64    /* receives seen before their arrivals, which other CPUs note */
/* Without a receive for so long, none is in progress on another CPU. */
#define DATAGRAMS_IDLE_NS 1000000ULL
#define BALANCE_NS 1000000ULL
#define BALANCE_SAMPLES 8
#define DATAGRAMS_OPEN 512
#define DATAGRAMS_TRIES 8
#define DATAGRAMS_TIMEOUT_NS 5000000000ULL

#define DATAGRAM_RECEIVERS 16
#define RECEIVER_NONE DATAGRAM_RECEIVERS

#define OPEN_WORDS (DATAGRAMS_OPEN / 64)

/* A request, 0: none. When it was received, modulo 73 minutes; its receiver; how long it had waited
 * as a floating-point number to the base of 16, 0: unknown. */
#define REQUESTED_BITS 42
#define RECEIVER_SHIFT REQUESTED_BITS
#define WAIT_SHIFT 46
#define WAIT_BITS 15 /* of the significand */

/* By how many the ring of arrivals has more than the socket had: another CPU is about to take one
 * from the ring. Less than none: it is about to add one. */
struct datagram_balance {
	u64 began_ns;
	u32 samples;
	s32 least, most;
};

/* A thread that receives. */
struct datagram_receiver {
	u32 thread;           /* 0: free */
	u32 run_head;         /* first request of the last run */
	u32 responded;        /* since the last receive */
	u64 open[OPEN_WORDS]; /* where its requests are */
};

/* Rings; heads and tails only grow. */
struct datagrams {
	u32 arrived_head, arrived_tail;
	u32 requests_tail;
	u32 responder;   /* thread that has sent the first datagram of the last response */
	bool responds;   /* has ever responded */
	u64 received_ns; /* last receive */
	struct datagram_balance balance;
	u64 walked_ns; /* until then the times in progress and waiting are in the row */
	u64 arrived_ns[DATAGRAMS_ARRIVED];
	u64 requests[DATAGRAMS_OPEN];
	struct datagram_receiver receivers[DATAGRAM_RECEIVERS];
};

static __always_inline u32 current_thread(void)
{
	return bpf_get_current_pid_tgid();
}

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

/* May another thread be receiving at this moment? */
static __always_inline bool datagrams_contended(struct datagrams *d, u64 now)
{
	u64 received_ns = d->received_ns;

	d->received_ns = now;
	return d->receivers[1].thread && span_ns(received_ns, now) < DATAGRAMS_IDLE_NS;
}

/* If there were too many in the ring at each receive for some time, these were received unseen. If
 * there were always too few, datagrams were received whose arrival was not seen. */
static __always_inline void datagrams_balance(struct datagrams *d, s32 surplus, u64 now)
{
	struct datagram_balance *b = &d->balance;
	u64 began_ns = b->began_ns;
	s32 wrong;

	if (surplus < b->least)
		b->least = surplus;
	if (surplus > b->most)
		b->most = surplus;
	if (++b->samples < BALANCE_SAMPLES || span_ns(began_ns, now) < BALANCE_NS ||
	    __sync_val_compare_and_swap(&b->began_ns, began_ns, now) != began_ns)
		return;
	wrong = b->least > 0 ? b->least : b->most < 0 ? b->most : 0;
	b->samples = 0;
	b->least = b->most = surplus - wrong;
	if (wrong)
		__sync_fetch_and_add(&d->arrived_head, wrong);
}

/* Arrival time of the datagram at this position of the ring; where that has been overwritten, of
 * the oldest that has not. */
static __always_inline u64 arrived_at(const struct datagrams *d, u32 at, u32 tail)
{
	s32 count = tail - at;

	if (count <= 0)
		return 0;
	return d->arrived_ns[(count > DATAGRAMS_ARRIVED ? tail : at) % DATAGRAMS_ARRIVED];
}

/* Arrival time of the datagram that is being received, 0: unknown. more: so many others wait. The
 * order in which two CPUs come here is not that in which they took from the socket, but the sum of
 * their waits is the same. */
static __always_inline u64 datagrams_arrived(struct datagrams *d, u32 more, u64 now)
{
	bool contended = datagrams_contended(d, now);
	u32 head = d->arrived_head, tail = d->arrived_tail;
	s32 count = tail - head;

	/* The last one was received: those before it were received unseen. */
	if (!more && !contended) {
		d->arrived_head = tail;
		return count > 0 ? arrived_at(d, tail - 1, tail) : 0;
	}
	if (contended)
		datagrams_balance(d, count - (s32)(more + 1), now);
	if (count <= (contended ? -DATAGRAMS_AHEAD : 0))
		return 0;
	if (count > DATAGRAMS_ARRIVED && (u32)count > more + 1)
		__sync_val_compare_and_swap(&d->arrived_head, head, tail - more - 1);
	return arrived_at(d, __sync_fetch_and_add(&d->arrived_head, 1), tail);
}

static __always_inline u64 wait_pack(u64 wait_ns)
{
	u64 exponent = 0;

	for (int i = 0; i < 7; i++) {
		if (wait_ns >> WAIT_BITS) {
			wait_ns >>= 4;
			exponent++;
		}
	}
	return wait_ns >> WAIT_BITS ? 0 : exponent << WAIT_BITS | wait_ns;
}

static __always_inline u64 wait_unpack(u64 packed)
{
	return (packed & ((1ULL << WAIT_BITS) - 1)) << 4 * (packed >> WAIT_BITS);
}

/* Time since it was received; negative: later, by another thread. */
static __always_inline s64 datagram_age(u64 request, u64 now)
{
	return (s64)((now - request) << (64 - REQUESTED_BITS)) >> (64 - REQUESTED_BITS);
}

static __always_inline bool datagram_has_expired(u64 request, u64 now)
{
	s64 age = datagram_age(request, now);

	return age > (s64)DATAGRAMS_TIMEOUT_NS || age < -(s64)DATAGRAMS_TIMEOUT_NS;
}

static __always_inline u32 datagram_receiver(u64 request)
{
	return request >> RECEIVER_SHIFT & (DATAGRAM_RECEIVERS - 1);
}

static __always_inline void datagram_unpack(u64 request, u64 now, struct exchange *e)
{
	u64 wait_ns = wait_unpack(request >> WAIT_SHIFT);
	s64 age = datagram_age(request, now);

	e->requested_ns = age > 0 ? now - age : now;
	e->arrived_ns = wait_ns ? e->requested_ns - wait_ns : 0;
}

/* RECEIVER_NONE: it has not received, or not for long. */
static __always_inline u32 receiver_find(const struct datagrams *d, u32 thread)
{
	for (u32 i = 0; i < DATAGRAM_RECEIVERS; i++)
		if (d->receivers[i].thread == thread)
			return i;
	return RECEIVER_NONE;
}

static __always_inline bool receiver_has_open(const struct datagram_receiver *r)
{
	u64 open = 0;

	for (u32 i = 0; i < OPEN_WORDS; i++)
		open |= r->open[i];
	return open;
}

static __always_inline bool receiver_assign(struct datagram_receiver *r, u32 before, u32 thread)
{
	return __sync_val_compare_and_swap(&r->thread, before, thread) == before;
}

/* The current thread receives on this socket for the first time: one that is free, or has no open
 * request, or is shared. */
__noinline u32 receiver_make(struct datagrams *d)
{
	u32 thread = current_thread();

	if (!d)
		return 0;
	for (u32 i = 0; i < DATAGRAM_RECEIVERS; i++)
		if (!d->receivers[i].thread && receiver_assign(&d->receivers[i], 0, thread))
			return i;
	for (u32 i = 0; i < DATAGRAM_RECEIVERS; i++) {
		struct datagram_receiver *r = &d->receivers[i];
		u32 before = *(volatile u32 *)&r->thread;

		if (!receiver_has_open(r) && receiver_assign(r, before, thread))
			return i;
	}
	return thread % DATAGRAM_RECEIVERS;
}

static __always_inline u64 *open_word(struct datagrams *d, u32 receiver, u32 at)
{
	return &d->receivers[receiver % DATAGRAM_RECEIVERS].open[at / 64 % OPEN_WORDS];
}

/* false: another CPU has claimed or displaced it. Its bit is cleared first: if that was the bit of
 * a newer request, that is seen, and has it back. */
static __always_inline bool datagrams_remove(struct datagrams *d, u32 receiver, u32 at, u64 request)
{
	u64 *open = open_word(d, receiver, at), bit = 1ULL << at % 64;
	u64 *requested = &d->requests[at % DATAGRAMS_OPEN], newer;

	if (!(__sync_fetch_and_and(open, ~bit) & bit))
		return false;
	if (request && datagram_receiver(request) == receiver &&
	    __sync_val_compare_and_swap(requested, request, 0) == request)
		return true;
	newer = *(volatile u64 *)requested;
	if (newer && datagram_receiver(newer) == receiver)
		__sync_fetch_and_or(open, bit);
	return false;
}

/* Number of the lowest bit that is set. clang 14 has no instructions for __builtin_ctzll(). */
static __always_inline u32 lowest_bit(u64 word)
{
	u32 bit = 0;

	for (u32 half = 32; half; half /= 2) {
		if (!(word & ((1ULL << half) - 1))) {
			word >>= half;
			bit += half;
		}
	}
	return bit;
}

static __always_inline u64 open_of_all(struct datagrams *d, u32 at)
{
	u64 open = 0;

	for (u32 i = 0; i < DATAGRAM_RECEIVERS && d->receivers[i].thread; i++)
		open |= *(volatile u64 *)open_word(d, i, at);
	return open;
}

/* The first position of the ring from tail on without an open request; tail: all have one. Global,
 * as the functions below: verified once. */
__noinline u32 datagrams_free(struct datagrams *d, u32 tail)
{
	if (!d || !*(volatile u64 *)&d->requests[tail % DATAGRAMS_OPEN])
		return tail;
	for (u32 i = 0; i <= OPEN_WORDS; i++) {
		u32 at = i ? (tail & ~63U) + 64 * i : tail;
		u64 unused = ~open_of_all(d, at) >> at % 64;

		if (unused)
			return at + lowest_bit(unused);
	}
	return tail;
}

/* Reserves a slot of the ring, behind those that have open requests, such as those of another
 * thread's batch. */
static __always_inline u32 datagrams_reserve(struct datagrams *d)
{
	for (u32 i = 0; i < DATAGRAMS_TRIES; i++) {
		u32 tail = *(volatile u32 *)&d->requests_tail;
		u32 at = d->responds ? datagrams_free(d, tail) : tail;

		if (__sync_val_compare_and_swap(&d->requests_tail, tail, at + 1) == tail)
			return at;
	}
	return __sync_fetch_and_add(&d->requests_tail, 1);
}

/* Adds a request of the current thread. */
__noinline int datagrams_add(struct datagrams *d, u64 arrived_ns, u64 now)
{
	struct datagram_receiver *r;
	u64 request, displaced;
	u32 receiver, at;

	if (!d)
		return 0;
	receiver = receiver_find(d, current_thread());
	if (receiver == RECEIVER_NONE)
		receiver = receiver_make(d);
	receiver %= DATAGRAM_RECEIVERS;
	r = &d->receivers[receiver];
	at = datagrams_reserve(d);
	request = (now & ((1ULL << REQUESTED_BITS) - 1)) | (u64)receiver << RECEIVER_SHIFT |
		  (arrived_ns ? wait_pack(now - arrived_ns) << WAIT_SHIFT : 0);
	if (r->responded)
		r->run_head = at;
	r->responded = 0;
	displaced = __sync_lock_test_and_set(&d->requests[at % DATAGRAMS_OPEN], request);
	if (displaced && datagram_receiver(displaced) != receiver)
		__sync_fetch_and_and(open_word(d, datagram_receiver(displaced), at),
				     ~(1ULL << at % 64));
	__sync_fetch_and_or(open_word(d, receiver, at), 1ULL << at % 64);
	return 0;
}

/* Adds a request. Returns its arrival time, 0: unknown. */
static __always_inline u64 datagrams_receive(struct datagrams *d, u64 now, u32 more)
{
	u64 arrived_ns = datagrams_arrived(d, more, now);

	if (arrived_ns >= now)
		arrived_ns = 0;
	datagrams_add(d, arrived_ns, now);
	return arrived_ns;
}

/* Slot of the receiver's oldest request from this position of the ring on; DATAGRAMS_OPEN: none. */
__noinline u32 receiver_oldest(struct datagrams *d, u32 receiver, u32 from)
{
	u64 before = (1ULL << from % 64) - 1;

	if (!d)
		return DATAGRAMS_OPEN;
	for (u32 i = 0; i <= OPEN_WORDS; i++) {
		u32 at = from + 64 * i;
		u64 open = *(volatile u64 *)open_word(d, receiver, at);

		if (i == 0)
			open &= ~before;
		if (i == OPEN_WORDS)
			open &= before;
		if (open)
			return (at / 64 % OPEN_WORDS) * 64 + lowest_bit(open);
	}
	return DATAGRAMS_OPEN;
}

/* Claims the receiver's oldest request from this position of the ring on, 0: none. */
__noinline u64 datagrams_claim(struct datagrams *d, u32 receiver, u32 from, u64 now)
{
	if (!d)
		return 0;
	for (u32 i = 0; i < DATAGRAMS_TRIES; i++) {
		u32 at = receiver_oldest(d, receiver, from);
		u64 request;

		if (at >= DATAGRAMS_OPEN)
			return 0;
		request = *(volatile u64 *)&d->requests[at % DATAGRAMS_OPEN];
		if (datagrams_remove(d, receiver, at, request) &&
		    !datagram_has_expired(request, now))
			return request;
	}
	return 0;
}

/* Receiver with the oldest request, RECEIVER_NONE: there is no request. */
__noinline u32 datagrams_oldest(struct datagrams *d, u32 tail)
{
	u32 best = DATAGRAMS_OPEN, receiver = RECEIVER_NONE;

	if (!d)
		return RECEIVER_NONE;
	for (u32 i = 0; i < DATAGRAM_RECEIVERS && d->receivers[i].thread; i++) {
		u32 at = receiver_oldest(d, i, tail), distance = (at - tail) % DATAGRAMS_OPEN;

		if (at < DATAGRAMS_OPEN && distance < best) {
			best = distance;
			receiver = i;
		}
	}
	return receiver;
}

/* Claims the oldest request of all receivers, 0: none. Another thread may claim what is found, and
 * leave what that thread itself has received. */
static __always_inline u64 datagrams_claim_any(struct datagrams *d, u64 now)
{
	u64 request = 0;

	for (u32 i = 0; i < DATAGRAMS_TRIES && !request; i++) {
		u32 tail = d->requests_tail, receiver = datagrams_oldest(d, tail);

		if (receiver == RECEIVER_NONE)
			break;
		request = datagrams_claim(d, receiver, tail, now);
	}
	return request;
}

static __always_inline u64 datagrams_claim_own(struct datagrams *d, u32 receiver, u64 now)
{
	struct datagram_receiver *r = &d->receivers[receiver % DATAGRAM_RECEIVERS];
	u32 head = r->run_head, tail = d->requests_tail;

	r->responded = 1;
	return datagrams_claim(d, receiver, tail - head > DATAGRAMS_OPEN ? tail : head, now);
}

/* Claims the request to which a datagram that is sent now responds. false: none, it continues a
 * response. */
static __always_inline bool datagrams_respond(struct datagrams *d, u64 now, struct exchange *e)
{
	u32 thread = current_thread(), receiver = receiver_find(d, thread);
	u64 request = 0;

	if (!d->responds)
		d->responds = true;
	if (receiver != RECEIVER_NONE)
		request = datagrams_claim_own(d, receiver, now);
	if (!request)
		request = datagrams_claim_any(d, now);
	if (!request)
		return false;
	d->responder = thread;
	datagram_unpack(request, now, e);
	return true;
}

/* For a request that was removed from its ring: the time until now that no walk has added. */
static __always_inline u64 datagrams_unsettled(struct datagrams *d, u64 since_ns, u64 now)
{
	u64 walked_ns = *(volatile u64 *)&d->walked_ns;

	return span_ns(since_ns > walked_ns ? since_ns : walked_ns, now);
}

#endif
