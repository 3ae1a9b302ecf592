/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the requests of each service took, in a map of the service object: the request probe adds it
 * up, the delay probe divides it by cause. It is 0 without the request probe.
 */
#ifndef SERVICE_REQUEST_BPF_H
#define SERVICE_REQUEST_BPF_H

#include "service.bpf.h"

/* How threads spend the time of requests. */
enum part {
	PART_CPU,
	PART_RUNQUEUE,
	PART_BLOCKED, /* from here on in the order of enum blocked */
	PART_DISK = PART_BLOCKED,
	PART_MEMORY,
	PART_LOCK,
	PART_TIMED_WAIT,
	PART_UPSTREAM,
	PART_CLIENT,
	PART_PIPE,
	PART_CHILD,
	PART_EVENT,
	PART_SLEEP,
	PART_STOPPED,
	PART_OTHER,
	PARTS,
	PART_NONE = PARTS
};

/* Sums of samples. Times only grow. */
struct samples {
	u64 one_ns[PARTS];  /* of threads that have one request at a time */
	u64 many_ns[PARTS]; /* of event loops, and of threads that take work from others */
	/* Of threads that take work from others, in a futex, for work or for a lock; timed: with a
	 * timeout. */
	u64 futex_ns, timed_futex_ns;
	u64 pool_ns, runner_ns; /* of threads that take work; runners receive requests, too */
	u64 idle_ns, busy_ns;   /* of serving threads that receive; idle: waiting for events */
	u64 requested, awaited; /* on connections that event loops watch, see awaited.bpf.h */
	/* Of event loops that wait for events, [1]: with a request open that waits for no upstream;
	 * timer: until a timeout that is near, see timer.bpf.h. */
	u64 epoll_ns[2], timer_ns[2];
};

/* Time with requests in hand, and the parts of it in which the thread waited for a CPU or was
 * blocked. */
struct in_hand {
	u64 passed_ns, queued_ns, blocked_ns;
	u64 client_ns; /* of it, blocked until more of a request arrived; not in blocked_ns */
	u64 woken_ns;  /* not of it: requests in sockets, of all threads, see woken.h */
};

/* Sums that are counted at sockets. */
struct request_sums {
	u64 exchanges;
	u64 waiting_ns;     /* in sockets, before the first receive */
	u64 in_progress_ns; /* from there to the last send, or until everything has been sent out */
	u64 send_wait_ns;   /* of that, in the send buffer */
	u64 upstream_ns;    /* of the service's own requests, with Option "clients" */
};

/* All members but tail_ns and open_since_ns only grow. */
struct service_request {
	u64 readings; /* number of readings of the request probe; the sums are up to the last one */
	u64 tail_ns;  /* from here on response times are slow: the slowest 5 % of the last interval
		       * with responses, 0: none */
	u64 open_since_ns; /* arrival of the oldest request then open; none: the last reading */
	struct request_sums sums;
	struct in_hand hand; /* of threads that have one request at a time */
	struct samples samples;
};

/* Indexed by service_task.row. */
ARRAY(service_requests, struct service_request, SERVICE_FIRST) SHARED(1);

static __always_inline struct service_request *service_request_of(u32 row)
{
	return bpf_map_lookup_elem(&service_requests, &row);
}

/* Samples of slow requests, see tail.bpf.h. Times only grow. */
struct slow_samples {
	u64 ns[PARTS], all_ns;
};

struct service_samples {
	struct samples all;
	struct slow_samples slow;
};

/* Samples of the delay probe, likewise. */
ARRAY(service_samples, struct service_samples, SERVICE_FIRST) SHARED(1);

static __always_inline struct samples *service_samples_of(u32 row)
{
	struct service_samples *s = bpf_map_lookup_elem(&service_samples, &row);

	return s ? &s->all : NULL;
}

static __always_inline struct slow_samples *slow_samples_of(u32 row)
{
	struct service_samples *s = bpf_map_lookup_elem(&service_samples, &row);

	return s ? &s->slow : NULL;
}

#endif
