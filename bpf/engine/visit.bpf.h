/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which tasks the walk visits. A task that neither runs nor waits for a CPU, and has done neither
 * since the previous walk, has used no CPU, waited for none and caused no fault and no I/O: the
 * walk skips it after reading two cache lines. The scheduler stores when a task last ran, by the
 * clock of its CPU, and the walk remembers what these clocks were when the previous walk began.
 * What others do to a sleeping task, such as reclaiming its memory, is seen when its periodic visit
 * is due.
 */
#ifndef ENGINE_VISIT_BPF_H
#define ENGINE_VISIT_BPF_H

#include "walk.bpf.h"

#define VISIT_PERIOD 16 /* in walks: each task is visited at least once in so many */
#define CPUS (1 << 20)  /* no kernel has more; the map has an entry for each CPU of this machine */

/* The run queue of a CPU, discovered through a task that was on it. */
struct run_queue {
	u64 address; /* of the kernel's struct rq, 0: not discovered yet */
	u64 before;  /* its clock at the start of the previous walk, or earlier; 0: unknown */
	u64 now;     /* likewise, of this walk */
};

ARRAY(run_queues, struct run_queue, 1);

static bool visit_all;
static u64 walk_count;
static volatile u64 number; /* a pointer stored here and read back is a number to the verifier */

static long note_clock(u32 cpu, void *unused)
{
	struct run_queue *q = bpf_map_lookup_elem(&run_queues, &cpu);

	if (!q)
		return 1;
	q->before = q->now;
	if (q->address)
		bpf_probe_read_kernel(&q->now, sizeof(q->now),
				      (void *)q->address +
					      bpf_core_field_offset(struct rq, clock_task));
	return 0;
}

static void begin_walk(struct walk_state *w)
{
	visit_all = __sync_lock_test_and_set(&w->all, 0);
	walk_count++;
	if (walk_skips_asleep())
		bpf_loop(CPUS, note_clock, NULL, 0);
}

static void discover_run_queue(struct task_struct *task)
{
	struct rq *rq = task_rq(task);
	u32 cpu = bpf_core_field_exists(rq->cpu) ? rq->cpu : 0;
	struct run_queue *q = bpf_map_lookup_elem(&run_queues, &cpu);

	if (!q || q->address)
		return;
	number = (u64)rq;
	q->address = number;
}

/* exec_start is 0 while a task moves to another CPU. */
static bool has_run_since(struct task_struct *task)
{
	u32 cpu = task->thread_info.cpu;
	struct run_queue *q = bpf_map_lookup_elem(&run_queues, &cpu);
	u64 ran = task->se.exec_start;

	if (!q || !q->before) {
		discover_run_queue(task);
		return true;
	}
	return !ran || ran >= q->before;
}

static bool is_visit_due(struct task_struct *task)
{
	number = (u64)task;
	return ((number >> 6) * 0x9e3779b97f4a7c15 >> 32) % VISIT_PERIOD ==
	       walk_count % VISIT_PERIOD;
}

static bool is_visited(struct task_struct *task)
{
	if (!walk_skips_asleep() || !bpf_core_field_exists(task->thread_info.cpu) ||
	    !task_has_rq(task))
		return true;
	return task->on_cpu || task->on_rq || has_run_since(task) || visit_all ||
	       is_visit_due(task);
}

#endif
