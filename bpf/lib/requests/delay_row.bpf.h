/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What is shown of a service's delays: the parts of its requests' time, and the window that they are
 * of.
 */
#ifndef DELAY_ROW_BPF_H
#define DELAY_ROW_BPF_H

#include "thread_delay.bpf.h"

struct delay_row {
	/* Sums over all requests of the last window; the parts in the order of enum
	 * request_part. */
	u64 in_cpu METRIC("latency-in_cpu of=requests " NS) UNIT("seconds")
		HELP("On a CPU: part of a request's mean response time");
	u64 in_runqueue METRIC("latency-in_runqueue of=requests " NS) UNIT("seconds") HELP(
		"Run queue: waiting for a CPU, also to be received, part of a request's mean response time");
	u64 in_disk METRIC("latency-in_disk of=requests " NS) UNIT("seconds")
		HELP("Disk: blocked by block I/O, part of a request's mean response time");
	u64 in_memory METRIC("latency-in_memory of=requests " NS) UNIT("seconds") HELP(
		"Memory: blocked by page faults and reclaim, part of a request's mean response time");
	u64 in_lock METRIC("latency-in_lock of=requests " NS) UNIT("seconds") HELP(
		"Lock: futexes, file locks, latches of other processes, part of a request's mean response time");
	u64 in_timed_wait METRIC("latency-in_timed_wait of=requests " NS) UNIT("seconds")
		HELP("Timed wait: a futex with a timeout, part of a request's mean response time");
	u64 in_upstream METRIC("latency-in_upstream of=requests " NS) UNIT("seconds") HELP(
		"Upstream: waiting for another service, part of a request's mean response time");
	u64 in_client METRIC("latency-in_client of=requests " NS) UNIT("seconds") HELP(
		"Client: waiting for the rest of the request, or for room to send the response, part of a request's mean response time");
	u64 in_pipe METRIC("latency-in_pipe of=requests " NS) UNIT("seconds")
		HELP("Pipe: waiting for another process, part of a request's mean response time");
	u64 in_child METRIC("latency-in_child of=requests " NS) UNIT("seconds")
		HELP("Child: waiting for a child process, part of a request's mean response time");
	u64 in_event METRIC("latency-in_event of=requests " NS) UNIT("seconds") HELP(
		"Event: eventfd, inotify, signals, queues, part of a request's mean response time");
	u64 in_sleep METRIC("latency-in_sleep of=requests " NS) UNIT("seconds")
		HELP("Sleep: for a time, part of a request's mean response time");
	u64 in_stopped METRIC("latency-in_stopped of=requests " NS) UNIT("seconds")
		HELP("Stopped: by a signal or the freezer, part of a request's mean response time");
	u64 in_other METRIC("latency-in_other of=requests " NS) UNIT("seconds")
		HELP("Other waits: anything else, part of a request's mean response time");
	u64 in_socket METRIC("latency-in_socket of=requests " NS) UNIT("seconds") HELP(
		"Socket: waiting to be received, but not for a CPU, part of a request's mean response time");
	u64 in_queue METRIC("latency-in_queue of=requests " NS) UNIT("seconds") HELP(
		"Queue: within the service, whose threads are busy, part of a request's mean response time");
	u64 in_async METRIC("latency-in_async of=requests " NS) UNIT("seconds") HELP(
		"Asynchronous: no thread has it in hand, part of a request's mean response time");
	u64 samples METRIC("gauge-request_samples of=requests") UNIT("samples") HELP(
		"Samples of requests: from which the parts of the mean response time are computed");
	u64 requests;
	/* Samples of slow requests of the last window, in the same order, ns. */
	u64 slow_cpu METRIC("percent-slow_cpu of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests on a CPU: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_runqueue METRIC("percent-slow_runqueue of=slow scale=100/1") UNIT("percent") HELP(
		"Slow requests in a run queue: share of the time of those past the 95th percentile")
		DEFAULT(off);
	u64 slow_disk METRIC("percent-slow_disk of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, disk: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_memory METRIC("percent-slow_memory of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, memory: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_lock METRIC("percent-slow_lock of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, lock: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_timed_wait METRIC("percent-slow_timed_wait of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, timed wait: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_upstream METRIC("percent-slow_upstream of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, upstream: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_client METRIC("percent-slow_client of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, client: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_pipe METRIC("percent-slow_pipe of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, pipe: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_child METRIC("percent-slow_child of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, child: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_event METRIC("percent-slow_event of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, event: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_sleep METRIC("percent-slow_sleep of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, sleep: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_stopped METRIC("percent-slow_stopped of=slow scale=100/1") UNIT("percent")
		HELP("Slow requests, stopped: share of the time of those past the 95th percentile")
			DEFAULT(off);
	u64 slow_other METRIC("percent-slow_other of=slow scale=100/1") UNIT("percent") HELP(
		"Slow requests, other waits: share of the time of those past the 95th percentile")
		DEFAULT(off);
	u64 slow;
	/* Of all threads. */
	u64 disk METRIC("delay_rate-delay-blkio rate " NS) UNIT("seconds per second")
		HELP("Blocked by disks: block I/O of all threads, by samples");
	/* The window that is open now. */
	struct {
		u64 since_ns, slow_since_ns;
		u64 sampler_runs, slow_runs; /* at its start */
		u64 slow_readings;           /* likewise, of the request probe */
		u64 reading_ns;              /* the request probe's last reading */
		u64 interval_ns;             /* before it */
		struct service_request begin;
		struct slow_samples slow_begin;
		/* Of the latest reading: */
		u64 readings;
		struct request_sums sums;
	} window;
};

MMAP_ARRAY(delays, struct delay_row, SERVICE_FIRST) SUBJECT("service");

static __always_inline struct delay_row *delay_row(u32 row)
{
	return bpf_map_lookup_elem(&delays, &row);
}

#endif
