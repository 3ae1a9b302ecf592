/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The walk over tasks that all probes share. A program
 *
 *     SEC("iter/task")
 *     WALK
 *     int NAME(struct bpf_iter__task *ctx)
 *     {
 *             ...
 *             return walk_on(ctx);
 *     }
 *
 * is called as an iterator of its own would be: with the first task (ctx->meta->seq_num is 0), with
 * each task that has run since the previous walk, runs or waits for a CPU, and finally with NULL.
 * Every path has to return walk_on(): a program that does not, or that returns 1 to be called with
 * the task again, keeps the others from theirs and is called no more. A sleeping task is visited
 * once in a while; all tasks are visited in the first walk of a probe, and when a process has been
 * moved to another service while it slept. A probe has to store by itself what it reports about
 * sleeping tasks. A program that needs every task every time is an iterator without the tag.
 *
 * A reading uses a walk that is at most half of its interval old, so there may be several walks
 * between two readings of a probe: a variable `readings` tells them apart, see
 * collectd-ebpf-objects(7).
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

/* State of tasks that may sleep for long has changed: the next walk visits all. */
static __always_inline void walk_all(void)
{
	struct walk_state *w = walk_state();

	if (w)
		w->all = 1;
}

/* false: the walk visits every task every time. */
static __always_inline bool walk_skips_asleep(void)
{
	return kernel_has_loop();
}

/* Calls the next visitor, if there is one. */
static __always_inline int walk_on(struct bpf_iter__task *ctx)
{
	struct walk_state *w = walk_state();

	if (w)
		bpf_tail_call(ctx, &walk_visitors, w->next++);
	return 0;
}

#endif
