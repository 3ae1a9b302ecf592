/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How long a request in a socket waits for a CPU: the thread that is to receive it is runnable
 * meanwhile. The kernel only has the sum of all such waits of a thread, and when a request arrives,
 * nobody knows which thread will receive it. But a thread that is idle then waits for a CPU only
 * because the request has woken it. Requests that arrive while it is busy have waited for a CPU for
 * the share of their time for which the thread has since it was idle. Included by the BPF side and
 * by its test.
 */
#ifndef WOKEN_H
#define WOKEN_H

#include "cputime.h"

/* The older half of a longer time since a thread was idle is forgotten. */
#define BURST_NS_MAX 1000000000ULL

/* Of a thread. */
struct moment {
	__u64 ns;
	__u64 queued_ns; /* its run-queue wait until then */
};

/* Run-queue wait, up to now, of a request that arrived at arrived_ns. *burst: since when the thread
 * was not idle; since: when it last received or sent something; 0, 0: it is new. */
static inline __u64 woken_wait(struct moment *burst, const struct moment *since, __u64 arrived_ns,
			       const struct moment *now)
{
	__u64 waited = now->ns > arrived_ns ? now->ns - arrived_ns : 0, all, queued;

	if (arrived_ns >= since->ns) {
		burst->ns = now->ns - waited; /* not in the future, where clocks of CPUs differ */
		burst->queued_ns = since->queued_ns;
	} else if (since->ns - burst->ns > BURST_NS_MAX) {
		burst->ns += (since->ns - burst->ns) / 2;
		burst->queued_ns += (since->queued_ns - burst->queued_ns) / 2;
	}
	all = now->ns > burst->ns ? now->ns - burst->ns : 0;
	queued = now->queued_ns - burst->queued_ns;
	if (waited == all)
		return queued < waited ? queued : waited;
	return cputime_part(waited, queued, all);
}

#endif
