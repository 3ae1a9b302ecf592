/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Counts how long a server's response has taken, see exchange.bpf.h.
 */
#ifndef LENGTH_BPF_H
#define LENGTH_BPF_H

#include "conversation.bpf.h"

static __always_inline void count_length(struct request_row *row, u32 length, u64 n)
{
	if (collects_requests_service)
		hist_count(&row->service, length_service(length), n);
	hist_count(&row->response, length_response(length), n);
}

/* The same for the class of the response. LENGTH_WITHDRAWN: none. */
static __always_inline void move_in_class(const struct conversation *c, u32 from, u32 to)
{
	if (responses_wanted && c->exchange.class)
		response_move(c->cache.row, c->exchange.class, length_service(from),
			      length_service(to));
}

static __noinline void count_withdrawn(const struct conversation *c, struct request_row *row,
				       u32 length)
{
	count_length(row, length, 1);
	move_in_class(c, LENGTH_WITHDRAWN, length);
}

/* A response, if there is one, has ended. */
static __always_inline void end_response(struct conversation *c, struct request_row *row)
{
	struct exchange *e = &c->exchange;

	if (e->phase == PHASE_RESPONDED && length_finish(e))
		count_withdrawn(c, row, length_until(e, e->settled_ns));
}

/* It goes on. */
static __always_inline void extend_response(struct conversation *c, struct request_row *row,
					    u64 now)
{
	u32 length, was = length_move(&c->exchange, now, &length);

	if (was == LENGTH_WITHDRAWN)
		return;
	count_length(row, was, -1);
	count_length(row, length, 1);
	move_in_class(c, was, length);
}

/* It may go on: withdraws its length. then: LENGTH_WITHDRAWN; LENGTH_FINAL: for good. */
static __noinline void withdraw_length(struct conversation *c, struct request_row *row, u32 then)
{
	u32 was = length_withdraw(&c->exchange, then);

	if (was == LENGTH_WITHDRAWN)
		return;
	count_length(row, was, -1);
	move_in_class(c, was, LENGTH_WITHDRAWN);
}

/* The client sends nothing more: its length counts, but may still grow. */
static __noinline void put_back(struct conversation *c)
{
	struct request_row *row = conversation_row(c);
	u32 length;

	if (row && c->exchange.phase == PHASE_RESPONDED && length_put_back(&c->exchange, &length))
		count_withdrawn(c, row, length);
}

#endif
