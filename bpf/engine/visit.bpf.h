/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which tasks the walk visits. One that neither runs nor waits for a CPU, and has not done so since
 * the walk before, has used nothing, waited for nothing and caused no fault and no I/O: it is
 * passed over after a look at two cache lines. The scheduler says when it has run last, by the
 * clock of the CPU that it was on; what these clocks were when the walk before began is known.
 * What others do to a task that sleeps, as to take memory from it, shows in its turn.
 */
#ifndef ENGINE_VISIT_BPF_H
#define ENGINE_VISIT_BPF_H

#include "walk.bpf.h"

#define VISIT_PERIOD 16 /* each task is visited in one walk of so many */
#define CPUS (1 << 20)  /* no kernel has more; the map has as many as this machine can have */

/* Of a CPU, met with a task that was on it. */
struct run_queue {
	u64 address; /* of the kernel's, 0: not met yet */
	u64 before;  /* its clock when the walk before began, or earlier; 0: not known */
	u64 now;     /* likewise of this walk */
};

ARRAY(run_queues, struct run_queue, 1);

static bool visit_all;
static u64 walk_count;
static volatile u64 number; /* through memory a pointer becomes one */

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
	if (walk_passes_over())
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

/* exec_start is 0 of a task that is on its way to another CPU. */
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
	if (!walk_passes_over() || !bpf_core_field_exists(task->thread_info.cpu) ||
	    !task_has_rq(task))
		return true;
	return task->on_cpu || task->on_rq || has_run_since(task) || visit_all ||
	       is_visit_due(task);
}

#endif
