/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Divides the time of the requests of a window into its parts.
 */
#ifndef SPLIT_BPF_H
#define SPLIT_BPF_H

#include "cputime.h"
#include "metric.bpf.h"
#include "services/service_request.bpf.h"

/* Global: verified once. Callers unroll their loops: kernels before 6.2 reject a call directly
 * before the head of a loop. */
__noinline u64 delay_fraction(u64 n, u64 part, u64 whole)
{
	return cputime_part(n, part, whole);
}

/* Sets the time in each part: exact where it is counted, divided by the shares of the samples where
 * it is only known in total. */
static void divide_hand(u64 *in, const struct in_hand *hand, const u64 *sampled)
{
	u64 sampled_ns = 0;

	for (int i = 0; i < PARTS; i++)
		in[i] = sampled[i];
	if (!hand->passed_ns) /* see hands_publish() */
		return;
	for (int i = PART_BLOCKED; i < PARTS; i++)
		sampled_ns += sampled[i];
	in[PART_CPU] = grown(hand->passed_ns, hand->queued_ns + hand->blocked_ns + hand->client_ns);
	in[PART_RUNQUEUE] = hand->queued_ns;
#pragma unroll
	for (int i = PART_BLOCKED; i < PARTS; i++)
		in[i] = delay_fraction(hand->blocked_ns, sampled[i], sampled_ns);
	if (!sampled_ns)
		in[PART_OTHER] = hand->blocked_ns;
	in[PART_CLIENT] += hand->client_ns;
}

/* Adds the samples of event loops and pools, and scales the parts down where they exceed the
 * counted time in progress. Returns the time that is in no thread's hands. */
static u64 fit_parts(u64 *in, const struct samples *seen, u64 progress_ns)
{
	u64 sum = 0, unexplained, lock, upstream;

	for (int i = 0; i < PARTS; i++) {
		in[i] += seen->many_ns[i];
		sum += in[i];
	}
	if (sum > progress_ns) {
#pragma unroll
		for (int i = 0; i < PARTS; i++)
			in[i] = delay_fraction(progress_ns, in[i], sum);
		return 0;
	}
	unexplained = progress_ns - sum;
	lock = unexplained < seen->futex_ns ? unexplained : seen->futex_ns;
	in[PART_LOCK] += lock;
	unexplained -= lock;
	/* Requests over UNIX sockets are not among seen->requested. */
	upstream = delay_fraction(unexplained, seen->awaited, seen->requested ?: seen->awaited);
	in[PART_UPSTREAM] += upstream;
	return unexplained - upstream;
}

#endif
