/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The one walk over tasks that all probes share. A program
 *
 *     SEC("iter/task")
 *     WALK
 *     int NAME(struct bpf_iter__task *ctx)
 *     {
 *             ...
 *             return walk_on(ctx);
 *     }
 *
 * is called by it as an iterator of its own would be: with the first task (ctx->meta->seq_num is
 * 0), with each that has run since the walk before, or is running or waiting for a CPU now, and
 * with NULL at the end. It ends as shown, on every way: one that does not, or that returns 1, to be
 * shown the task again, keeps others from theirs, and is called no more. A task that sleeps is
 * visited once in a while, and all are in the first walk of a probe, and when a process has been
 * moved to another service while it slept. What a probe gives out of tasks that sleep it remembers
 * itself. Whatever needs every task, every time, is an iterator without the tag.
 *
 * A reading takes a walk that is at most half of its interval old, so that there may be several
 * between two readings of a probe: a variable `readings`, see metric.bpf.h, tells them apart.
 */
#ifndef WALK_BPF_H
#define WALK_BPF_H

#include "metric.bpf.h"
#include "walk.h"

#define WALK __attribute__((btf_decl_tag("walk:tasks")))

ARRAY(walks, struct walk_state, 1) SHARED(1);

MAP(walk_visitors, PROG_ARRAY, 0, u32, u32, WALK_VISITORS_MAX) SHARED(1);

static __always_inline struct walk_state *walk_state(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&walks, &zero);
}

/* Something has changed of tasks that may sleep for long: the next walk visits all. */
static __always_inline void walk_all(void)
{
	struct walk_state *w = walk_state();

	if (w)
		w->all = 1;
}

/* Or does it visit every task, every time? */
static __always_inline bool walk_passes_over(void)
{
	return kernel_has_loop();
}

/* To the next visitor, if there is one. */
static __always_inline int walk_on(struct bpf_iter__task *ctx)
{
	struct walk_state *w = walk_state();

	if (w)
		bpf_tail_call(ctx, &walk_visitors, w->next++);
	return 0;
}

#endif
