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

/* Since a thread was idle. */
struct burst {
	__u64 began_ns;
	__u64 queued_ns; /* its run-queue wait then */
};

/* Run-queue wait, up to now, of a request that arrived at arrived_ns. since_ns: when the thread
 * last received or sent something, with a run-queue wait of since_queued_ns; 0, 0: it is new.
 * queued_ns: that wait now. */
static inline __u64 woken_wait(struct burst *burst, __u64 since_ns, __u64 since_queued_ns,
			       __u64 arrived_ns, __u64 now, __u64 queued_ns)
{
	__u64 waited = now > arrived_ns ? now - arrived_ns : 0, all, queued;

	if (arrived_ns >= since_ns) {
		burst->began_ns = arrived_ns;
		burst->queued_ns = since_queued_ns;
	} else if (since_ns - burst->began_ns > BURST_NS_MAX) {
		burst->began_ns += (since_ns - burst->began_ns) / 2;
		burst->queued_ns += (since_queued_ns - burst->queued_ns) / 2;
	}
	all = now > burst->began_ns ? now - burst->began_ns : 0;
	queued = queued_ns - burst->queued_ns;
	if (waited == all)
		return queued < waited ? queued : waited;
	return cputime_part(waited, queued, all);
}

#endif
