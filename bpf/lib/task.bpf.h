/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the kernel counts for a task, and how much of it is new.
 */
#ifndef TASK_BPF_H
#define TASK_BPF_H

#include "cputime.h"
#include "kernel/sched.bpf.h"

static u64 walk_clock; /* the scheduler's clock at the start of the walk */

const volatile u64 tick_ns_max = 2000000000;

struct counters {
	u64 user;
	u64 system;
	u64 wait;
	u64 voluntary;
	u64 involuntary;
	u64 minor_faults;
	u64 major_faults;
	u64 read_chars;
	u64 write_chars;
	u64 read_calls;
	u64 write_calls;
	u64 read_bytes;
	u64 write_bytes;
};

/* CPU time of a thread up to the start of the walk, also while it runs. The scheduler adds to
 * sum_exec_runtime at ticks and switches; the rest is its clock minus exec_start. clock_task lags
 * behind clock by the time that interrupts and the hypervisor took from that CPU. */
static u64 exec_until_walk(struct task_struct *task)
{
	u64 sum = task->se.sum_exec_runtime;
	struct rq *rq;
	u64 start, now;

	if (!task->on_cpu || !task_has_rq(task))
		return sum;
	start = task->se.exec_start;
	rq = task_rq(task);
	now = walk_clock - (rq->clock - rq->clock_task);
	if (sum != task->se.sum_exec_runtime)
		return sum;
	return cputime_until(sum, start, now, tick_ns_max);
}

/* Run-queue wait, including that of a thread that waits now. */
static u64 wait_until_walk(struct task_struct *task)
{
	u64 queued = task_queued(task);
	u64 wait = task->sched_info.run_delay;

	if (queued && !task->on_cpu && walk_clock > queued)
		wait += walk_clock - queued;
	return wait;
}

/* Everything but CPU time. */
static void task_counters_read(struct task_struct *task, struct counters *c, bool walking)
{
	c->wait = walking ? wait_until_walk(task) : task->sched_info.run_delay;
	c->voluntary = task->nvcsw;
	c->involuntary = task->nivcsw;
	c->minor_faults = task->min_flt;
	c->major_faults = task->maj_flt;
	c->read_chars = task->ioac.rchar;
	c->write_chars = task->ioac.wchar;
	c->read_calls = task->ioac.syscr;
	c->write_calls = task->ioac.syscw;
	c->read_bytes = task->ioac.read_bytes;
	c->write_bytes = task->ioac.write_bytes;
}

/* Sets `now` to the growth of each counter beyond `added`, at least 0, and adds it there; false if
 * no counter has grown. Without branches, because each doubles the verifier's paths; barrier_var()
 * keeps the compiler from making a branch of the mask. Before 6.3 that was too much: be2ef8161572
 * ("bpf: allow precision tracking for programs with subprogs"). */
static bool counters_growth(struct counters *now, struct counters *added)
{
	u64 *n = (u64 *)now, *a = (u64 *)added, any = 0;

	for (int i = 0; i < (int)(sizeof(*now) / sizeof(*n)); i++) {
		s64 d = n[i] - a[i], negative = d >> 63;

		barrier_var(negative);
		n[i] = d & ~negative;
		a[i] += n[i];
		any |= n[i];
	}
	return any;
}

/* Divides exec ns of CPU time, given the previous division in `added`. */
static void read_cputime(const struct task_struct *task, u64 exec, const struct counters *added,
			 struct counters *now)
{
	u64 stime = task->stime, ticks = task->utime + stime;

	if (!ticks && task->flags & PF_KTHREAD)
		stime = ticks = 1;
	now->user = added->user;
	now->system = added->system;
	cputime_divide(exec, stime, ticks, &now->user, &now->system);
}

#endif
