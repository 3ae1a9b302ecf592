/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Responses that leave bytes in TCP's send buffer: they end when these are sent. TCP has no hook
 * for that moment, so it is checked at the next event of the socket, when it is closed, and at
 * each reading.
 */
#ifndef UNSENT_BPF_H
#define UNSENT_BPF_H

#include "request.bpf.h"

/* Between two sends: what corking leaves in the buffer is sent with the next one, and need not be
 * checked. */
#define CORKED_NS 1000000

/* The response has left bytes in the send buffer: it ends when these are sent. */
static __always_inline void note_unsent(struct conversation *c, u32 end)
{
	if (c->exchange.phase != PHASE_RESPONDED)
		return;
	c->unsent_end = end;
	__sync_lock_test_and_set(&c->unsent, 1);
}

/* They were sent at that time, or are given up. */
static __always_inline void end_unsent(struct conversation *c, struct request_row *row, u64 now)
{
	struct exchange *e = &c->exchange;
	u64 settled_ns;

	if (!__sync_lock_test_and_set(&c->unsent, 0))
		return;
	settled_ns = *(volatile u64 *)&e->settled_ns;
	now = now > settled_ns ? now : settled_ns;
	settled_ns = __sync_lock_test_and_set(&e->settled_ns, now);
	add(&row->in_progress_ns, span_ns(settled_ns, now));
	add(&row->send_wait_ns, span_ns(settled_ns, now));
	extend_response(c, row, now);
}

/* Checks at a later event of the socket. is_final: nothing more of them will be sent. */
static __noinline void check_unsent(struct conversation *c, const struct sock *sk, bool is_final)
{
	struct request_row *row = request_row(slot_index(c->cache.slot));
	u64 now = bpf_ktime_get_ns(), went_ns = socket_went_ns(sk, c->unsent_end);

	if (row && (went_ns || is_final) && slot_cache_has_slot(&c->cache, &slot_owners))
		end_unsent(c, row, went_ns && went_ns < now ? went_ns : now);
}

#endif
