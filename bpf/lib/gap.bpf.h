/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Gaps between the events of a whole service, whichever CPUs they are on.
 */
#ifndef GAP_BPF_H
#define GAP_BPF_H

#include "metric.bpf.h"

u64 interval_began_ns; /* the last reading, 0: there was none */
u64 previous_began_ns; /* the one before */

/* Is the interval before this one part of the gap, so that it was a pause? Of a pause that part
 * counts which is of the interval that goes on: what came before says nothing of the load now. */
static __always_inline u64 clip_gap(u64 was, u64 now)
{
	u64 began = interval_began_ns;

	return now - (was < previous_began_ns && began < now ? began : was);
}

/* Adds the time since the last event of the whole service. An event that
 * another CPU has overtaken has a gap of 0, so that the sum of gaps is the time
 * from the first event to the last, without pauses. */
static __always_inline void count_gap(struct moments *gaps, u64 *last, u64 now)
{
	u64 was = *(volatile u64 *)last, seen, gap_ns = 0;

	for (int i = 0; i < 4 && was < now; i++) {
		seen = __sync_val_compare_and_swap(last, was, now);
		if (seen == was) {
			gap_ns = clip_gap(was, now);
			break;
		}
		was = seen;
	}
	if (was)
		moments_add(gaps, gap_ns);
}

#endif
