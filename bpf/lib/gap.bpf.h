/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Measures the gaps between the events of a whole service, whichever CPUs they are on.
 */
#ifndef GAP_BPF_H
#define GAP_BPF_H

#include "metric.bpf.h"

u64 interval_began_ns; /* the last reading, 0: there was none */
u64 previous_began_ns; /* the one before */

/* A gap that contains the whole interval before this one is a pause. Only its part in the current
 * interval counts: what came before says nothing about the present load. */
static __always_inline u64 clip_gap(u64 was, u64 now)
{
	u64 began = interval_began_ns;

	return now - (was < previous_began_ns && began < now ? began : was);
}

/* Adds the time since the last event of the service. An event that another CPU has overtaken has a
 * gap of 0, so that the sum of the gaps is the time from the first event to the last, without
 * pauses. */
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
