/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What all threads are blocked by, those that serve no request included. A walk over all threads
 * takes long where there are many: it is due only if somebody wants to know, and for disks only
 * while a thread of the machine sleeps uninterruptibly.
 *
 * Limits: file systems in user space (FUSE) also let threads wait interruptibly.
 */
#ifndef THREAD_DELAY_BPF_H
#define THREAD_DELAY_BPF_H

#include "services/service_request.bpf.h"

#define NS "scale=1/1000000000"

/* Of all threads; in the order of enum part, after PART_DISK. */
struct thread_delay_row {
	u64 memory METRIC("delay_rate-delay-memory rate " NS) UNIT("seconds per second")
		HELP("Blocked by memory: page faults and reclaim of all threads, by samples")
			DEFAULT(off);
	u64 lock METRIC("delay_rate-delay-lock rate " NS) UNIT("seconds per second")
		HELP("Blocked by locks: futexes and file locks of all threads, by samples")
			DEFAULT(off);
	u64 timed_wait METRIC("delay_rate-delay-timed_wait rate " NS) UNIT("seconds per second")
		HELP("Blocked in futexes with a timeout: of all threads, by samples") DEFAULT(off);
	u64 upstream METRIC("delay_rate-delay-upstream rate " NS) UNIT("seconds per second")
		HELP("Waiting for other services: on connections of all threads, by samples")
			DEFAULT(off);
	u64 client METRIC("delay_rate-delay-client rate " NS) UNIT("seconds per second")
		HELP("Waiting for clients: with a request in hand, by samples") DEFAULT(off);
	u64 pipe METRIC("delay_rate-delay-pipe rate " NS) UNIT("seconds per second")
		HELP("Waiting for pipes: of all threads, by samples") DEFAULT(off);
	u64 child METRIC("delay_rate-delay-child rate " NS) UNIT("seconds per second")
		HELP("Waiting for child processes: of all threads, by samples") DEFAULT(off);
	u64 event METRIC("delay_rate-delay-event rate " NS) UNIT("seconds per second")
		HELP("Waiting for events: of all threads, by samples") DEFAULT(off);
	u64 sleep METRIC("delay_rate-delay-sleep rate " NS) UNIT("seconds per second")
		HELP("Asleep for a time: of all threads, by samples") DEFAULT(off);
	u64 stopped METRIC("delay_rate-delay-stopped rate " NS) UNIT("seconds per second")
		HELP("Stopped: of all threads, by samples") DEFAULT(off);
	u64 other METRIC("delay_rate-delay-other rate " NS) UNIT("seconds per second")
		HELP("Other waits: of all threads, by samples") DEFAULT(off);
};

MMAP_ARRAY(thread_delays, struct thread_delay_row, SERVICE_FIRST) SUBJECT("service");

const volatile bool collects_thread_delays, collects_upstreams;
const volatile u64 cpus_possible = 1;

u32 all_threads_due = 1; /* something is to be counted of all threads */

/* Finds the run queue of each CPU: its distance to that of this CPU is that of the elements. The
 * kernel's own symbol may be absent (CONFIG_KALLSYMS_ALL). */
PERCPU_ARRAY(percpu_element, u32, u64, 1);

/* An address that is read back from here is a number to the verifier. */
static volatile u64 address;
static volatile u64 queue_origin; /* address of a CPU's run queue minus element - &queue_origin */

static void queue_origin_find(void)
{
	void *element;
	u32 zero = 0;

	element = bpf_map_lookup_elem(&percpu_element, &zero);
	if (!element)
		return;
	address = (u64)task_rq(bpf_get_current_task_btf());
	queue_origin = address - (element - (void *)&queue_origin);
}

static long sum_uninterruptible(u32 cpu, u32 *sum)
{
	u32 zero = 0;
	void *element = bpf_map_lookup_percpu_elem(&percpu_element, &zero, cpu);
	const struct rq *rq;

	if (!element)
		return 1;
	rq = (void *)(queue_origin + (element - (void *)&queue_origin));
	*sum += (u32)BPF_CORE_READ_BITFIELD_PROBED(rq, nr_uninterruptible); /* of 4 bytes or 8 */
	return 0;
}

static bool disks_may_block(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 sum = 0;

	if (!task_has_rq(task) || !bpf_core_field_exists(task->se.cfs_rq->rq->nr_uninterruptible))
		return true;
	queue_origin_find();
	bpf_loop(cpus_possible, sum_uninterruptible, &sum, 0);
	return (s32)sum > 0;
}

/* Call where serving threads are sampled by themselves. */
static bool thread_delays_due(void)
{
	return collects_thread_delays || collects_upstreams || disks_may_block();
}

#endif
