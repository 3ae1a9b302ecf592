/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The threads that serve, by thread number, and how long each was blocked with a request in hand:
 * waited for a lock, a disk or another service, and could take no other request.
 *
 * A thread holds a request from its first receive to the first send that answers it. What it has
 * slept meanwhile is how much more its exec_start has grown than its CPU time and its run-queue wait:
 * all three are brought up to date at the same moments, so that this is exact also while it runs,
 * except across CPUs whose clocks differ by what interrupts took from them; there the time
 * that has passed stands in, to within a tick.
 *
 * A thread that receives another request while it holds one, or whose request another thread
 * answers, or that waits in epoll or io_uring with a request in hand, takes others meanwhile:
 * it is an event loop, or hands requests on. Where that is more than one request in LOOP_SHARE it is
 * taken as never blocked. Below, an event loop with a request in hand for a share of its time
 * gets more than that share of its requests meanwhile, so that what it seems blocked is at most that.
 *
 * A request that nobody will answer is not held for ever: the walk forgets it when it finds the thread in
 * a call that receives more on the same socket, or polls it, or accepts, or after HOLD_NS_MAX unless it
 * waits for a disk. Nor is what passes until more of a request comes time blocked with it.
 */
#ifndef SERVING_BPF_H
#define SERVING_BPF_H

#include "number.bpf.h"
#include "refused.bpf.h"

#define LOOP_SHARE 16
#define HOLD_NS_MAX 60000000000ULL
#define HANDED_APART 16 /* answers by another thread than received, of which one tells the thread */

/* Of a thread that has received or answered a request. */
struct serving {
	u32 pid; /* whose it is, 0: nobody's */
	u32 row;
	u32 walk;       /* that has looked at it last */
	u32 hold_cpu;   /* where it began to hold */
	u64 served;     /* `readings` when it served last, and one; 0: never */
	u64 rested;     /* likewise, when it was found not to have served */
	u64 seen_ns;    /* its time counts from then, 0: not at all */
	u64 cpu_ns;     /* until then */
	u64 wait_ns;    /* for a CPU, until then */
	u64 hold;       /* the socket whose request it holds, by address, 0: none */
	u64 asked_ns;   /* since when */
	u64 exec_ns;    /* exec_start then */
	u64 busy_ns;    /* CPU time and run-queue wait then */
	u64 blocked_ns; /* with requests that it has answered */
	u64 counted_ns; /* of that, and of the one that it holds */
	u32 answers;    /* of the latest ones */
	u32 overlaps;   /* likewise, with which it took others, or that others answered */
	/* When it was last found with a request in hand: */
	bool in_loop;   /* it waited for events */
	bool in_kernel; /* it waited for what no signal ends, as a disk */
};

/* By thread_number() - 1. */
ARRAY(servings, struct serving, THREADS_MAX);

u64 readings;

static __always_inline struct serving *serving_at(u32 number)
{
	u32 index = number - 1;

	return bpf_map_lookup_elem(&servings, &index);
}

static void serving_begin(struct serving *s, struct task_struct *task)
{
	__builtin_memset(s, 0, sizeof(*s));
	s->cpu_ns = task->se.sum_exec_runtime;
	s->wait_ns = task->sched_info.run_delay;
	s->seen_ns = bpf_ktime_get_ns();
	s->pid = task->pid;
}

/* That of the current thread, whose number is returned, too. */
static __noinline struct serving *serving_make(u32 *ret_number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct serving *s;

	*ret_number = thread_number_take(task);
	s = or_refused(serving_at(*ret_number));
	if (s && s->pid != (u32)task->pid)
		serving_begin(s, task);
	return s;
}

/* Likewise; *number is what the socket remembers. */
static __always_inline struct serving *serving_now(u32 *number)
{
	struct serving *s = serving_at(*number);

	return s && s->pid == (u32)bpf_get_current_pid_tgid() ? s : serving_make(number);
}

static __always_inline u64 busy_of(const struct task_struct *task)
{
	return task->se.sum_exec_runtime + task->sched_info.run_delay;
}

static __always_inline void hold_from(struct serving *s, u64 sk, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();

	s->served = readings + 1;
	s->hold = sk;
	s->asked_ns = now;
	s->hold_cpu = bpf_get_smp_processor_id();
	s->exec_ns = task->se.exec_start;
	s->busy_ns = busy_of(task);
}

/* The current thread has received a request of the socket at this address. */
static __always_inline void hold_begin(u64 sk, u32 *number, u64 now)
{
	struct serving *s = serving_now(number);

	if (!s)
		return;
	if (s->hold)
		s->overlaps++;
	hold_from(s, sk, now);
}

/* And here, more of it. */
static __always_inline void hold_again(u64 sk, u32 *number, u64 now)
{
	struct serving *s = serving_now(number);

	if (s && (!s->hold || s->hold == sk))
		hold_from(s, sk, now);
}

/* passed: since it began to hold, by the same clock. */
static __always_inline u64 blocked_in(const struct serving *s, u64 passed, u64 busy_ns)
{
	u64 busy = busy_ns - s->busy_ns;

	return passed > busy ? passed - busy : 0;
}

static __always_inline void hold_end(struct serving *s, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool same = s->hold_cpu == bpf_get_smp_processor_id();

	s->hold = 0;
	s->blocked_ns += blocked_in(s, same ? task->se.exec_start - s->exec_ns : now - s->asked_ns,
				    busy_of(task));
}

/* Some of the answers tell who gives them. */
static __noinline void handed_on(struct serving *holder, u64 sk)
{
	struct serving *s;
	u32 number;

	if (holder && holder->hold == sk) {
		holder->hold = 0;
		holder->overlaps++;
		holder->answers++;
	}
	s = serving_make(&number);
	if (s)
		s->served = readings + 1;
}

/* The current thread answers the request. shared: others may receive on the same socket. */
static __always_inline void hold_answer(u64 sk, u32 *number, bool shared, u64 now)
{
	struct serving *s = shared ? serving_now(number) : serving_at(*number);

	if (s && s->pid == (u32)bpf_get_current_pid_tgid()) {
		s->served = readings + 1;
		s->answers++;
		if (s->hold == sk)
			hold_end(s, now);
	} else {
		handed_on(s, sk);
	}
}

static bool is_loop(const struct serving *s)
{
	return s->in_loop || s->overlaps * LOOP_SHARE > s->answers;
}

#endif
