/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What slow requests wait for, from their beginning on. Whether a request is slow shows only when it
 * is responded to or has become old: until then its samples stay with the thread that has it in
 * hand. The delay probe adds them, the request probe decides at each send of the response. A request
 * that is slow already when it is sampled counts at once, so that one that hangs shows.
 *
 * Samples belong to the request that began at sampled_ns; nobody has to discard those of a request
 * that ends otherwise. What two CPUs write at the same moment costs one sample at most.
 */
#ifndef TAIL_BPF_H
#define TAIL_BPF_H

#include "serving_thread.bpf.h"

/* Moves the samples if the request has taken so long. Global: verified once. */
__noinline int tail_move(struct serving *s, u64 now)
{
	struct service_request *r = s ? service_request_of(s->row) : NULL;
	struct slow_samples *slow = s ? slow_samples_of(s->row) : NULL;

	if (!r || !slow || !r->tail_ns || grown(now, s->began_ns) < r->tail_ns)
		return 0;
	s->sampled_ns = 0;
	for (int i = 0; i < PARTS; i++) {
		u64 ns = s->sampled_us[i] * 1000ULL;

		add(&slow->ns[i], ns);
		add(&slow->all_ns, ns);
	}
	return 0;
}

/* There is a further send of the response, or a sample. */
static __always_inline void tail_decide(struct serving *s, u64 now)
{
	if (s->sampled_ns == s->began_ns)
		tail_move(s, now);
}

/* A sample of the thread while it has the request in hand or responds to it. */
static __always_inline void tail_sample(struct serving *s, u64 part, u64 us)
{
	if (s->sampled_ns != s->began_ns) {
		__builtin_memset(s->sampled_us, 0, sizeof(s->sampled_us));
		s->sampled_ns = s->began_ns;
	}
	asm volatile("" : "+r"(part)); /* as in part_add() */
	if (part < PARTS)
		s->sampled_us[part] += us;
}

#endif
