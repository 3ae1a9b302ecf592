/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Divides the time of the requests of a window into its parts.
 *
 * What is in no thread's hands is divided in this order: upstreams, as counted or as estimated;
 * timers of event loops; futexes in which threads of a pool wait; a queue for a thread. What then
 * is left has no known reason.
 *
 * Limits: an event loop shows only its next timer, so that one of several requests that sleeps
 * makes all that wait for nothing else seem to. A request that waits for several upstreams at a
 * time counts once for each, up to what is left. While a loop is busy, requests are taken to wait
 * for upstreams and timers as while it idles. Where any thread may receive requests, as in Go, what
 * requests wait for in the program itself is unknown: while some thread works, it is taken for a
 * lock.
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

/* Moves at most `most` of *left to a part. */
static __always_inline void claim(u64 *left, u64 *part, u64 most)
{
	u64 taken = *left < most ? *left : most;

	*part += taken;
	*left -= taken;
}

/* Requests whose thread waits for a CPU wait for that, too. Returns the time in sockets that is left. */
static u64 divide_socket(u64 *in, const struct in_hand *hand, u64 waiting_ns)
{
	claim(&waiting_ns, &in[PART_RUNQUEUE], hand->woken_ns);
	return waiting_ns;
}

/* Time of requests to upstreams that is in no thread's hands. Without a count it is as much of this
 * time as of the connections seen with an open request also wait for an upstream. Requests over
 * UNIX sockets are not among seen->requested. */
static u64 upstream_of(const u64 *in, const struct samples *seen, u64 counted_ns, u64 left)
{
	if (counted_ns)
		return grown(counted_ns, in[PART_UPSTREAM]);
	return delay_fraction(left, seen->awaited, seen->requested ?: seen->awaited);
}

/* As much as event loops wait for a timer more often with a request open than without: they may
 * have timers of their own. */
static u64 sleep_of(const struct samples *seen, u64 left)
{
	u64 with = delay_fraction(left, seen->timer_ns[1], seen->epoll_ns[1]);
	u64 without = delay_fraction(left, seen->timer_ns[0], seen->epoll_ns[0]);

	return grown(with, without);
}

/* Threads that only take work wait in futexes, for work or for a lock. If the requests have time
 * left after that, no thread was free to take them. */
static u64 divide_in_pool(u64 *in, const struct samples *seen, u64 left, u64 *ret_queue)
{
	u64 futexes = seen->futex_ns + seen->timed_futex_ns;
	u64 most = left < futexes ? left : futexes;

	claim(&left, &in[PART_LOCK], delay_fraction(most, seen->futex_ns, futexes));
	claim(&left, &in[PART_TIMED_WAIT], delay_fraction(most, seen->timed_futex_ns, futexes));
	*ret_queue = left;
	return 0;
}

/* Requests queue for event loops and runners as far as these are busy for longer than they wait for
 * events. Otherwise a request may wait for what another holds in the program's own code, as a mutex
 * of Go, if there is a thread at work that may hold it. Runners also idle in futexes. */
static u64 divide_among_loops(u64 *in, const struct samples *seen, u64 left, u64 *ret_queue)
{
	u64 busy_ns = seen->busy_ns, idle_ns = seen->idle_ns;

	*ret_queue = 0;
	claim(&left, ret_queue, delay_fraction(left, grown(busy_ns, idle_ns), busy_ns + idle_ns));
	if (seen->runner_ns && seen->futex_ns)
		claim(&left, &in[PART_LOCK], delay_fraction(left, busy_ns, idle_ns));
	return left;
}

/* Divides the time that is in no thread's hands: what is known best comes first. Returns what no
 * part explains; *ret_queue: the part of it that waits for a thread. */
static u64 divide_left(u64 *in, const struct samples *seen, u64 upstream_ns, u64 left,
		       u64 *ret_queue)
{
	claim(&left, &in[PART_UPSTREAM], upstream_of(in, seen, upstream_ns, left));
	claim(&left, &in[PART_SLEEP], sleep_of(seen, left));
	if (seen->pool_ns > seen->runner_ns)
		return divide_in_pool(in, seen, left, ret_queue);
	return divide_among_loops(in, seen, left, ret_queue);
}

/* Adds the samples of event loops and pools, and scales the parts down where they exceed the
 * counted time in progress. upstream_ns: counted time of requests to upstreams, 0: not counted.
 * Returns the time that is in no thread's hands and in no part; *ret_queue: that which waits for a
 * thread. */
static u64 fit_parts(u64 *in, const struct samples *seen, u64 progress_ns, u64 upstream_ns,
		     u64 *ret_queue)
{
	u64 sum = 0;

	for (int i = 0; i < PARTS; i++) {
		in[i] += seen->many_ns[i];
		sum += in[i];
	}
	if (sum <= progress_ns)
		return divide_left(in, seen, upstream_ns, progress_ns - sum, ret_queue);
	*ret_queue = 0;
#pragma unroll
	for (int i = 0; i < PARTS; i++)
		in[i] = delay_fraction(progress_ns, in[i], sum);
	return 0;
}

#endif
