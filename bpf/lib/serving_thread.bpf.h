/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What is known of each thread that serves, in maps of the service object: the request probe
 * counts, see serving.bpf.h, and the delay probe looks at what such a thread does.
 */
#ifndef SERVING_THREAD_BPF_H
#define SERVING_THREAD_BPF_H

#include "service_request.bpf.h"

#define THREAD_NUMBERS SHARED(1)
#include "number.bpf.h"

#define LOOP_FRACTION 16

/* Of a thread that has received or answered a request. */
struct serving {
	u32 pid; /* whose it is, 0: nobody's */
	u32 row;
	u64 served;    /* `readings` when it served last, and one; 0: never */
	u64 socket;    /* the socket whose request it holds, by address, 0: none */
	u64 responded; /* likewise, whose request it has answered since it held one, 0: none */
	u64 began_ns;  /* when the request that it holds came, or that it has answered */
	u64 since_ns;  /* since when it holds it, or the last send of the answer */
	u64 exec_ns;   /* exec_start then */
	u64 cpu_ns;    /* CPU time then */
	u64 queued_ns; /* run-queue wait then */
	u32 cpu;       /* where that was */
	u32 responses; /* of the latest ones */
	u32 overlaps;  /* likewise, with which it took others, or that others answered */
	u32 sends;     /* of answers that went on */
	u64 task;      /* its address */
	struct in_hand done;      /* with requests that it has answered */
	struct in_hand published; /* of that, and of the one that it holds, see in_hand.bpf.h */
	u64 responder_ns; /* when it answered last what another thread had received, 0: never */
	/* Until the last look of a walk: */
	u64 seen_ns;         /* its time counts from then, 0: not at all */
	u64 seen_cpu_ns;     /* CPU time then */
	u64 seen_queued_ns;  /* run-queue wait then */
	u64 seen_blocked_ns; /* with requests in hand then */
	u64 rested;          /* `readings` when it was found not to have served, and one */
	u32 walk;            /* that has looked at it last */
	/* When it was last found with a request in hand: */
	bool in_loop;   /* it waited for events */
	bool in_kernel; /* it waited for what no signal ends, as a disk */
};

/* By thread_number() - 1. */
ARRAY(servings, struct serving, THREADS_MAX) SHARED(1);

static __always_inline struct serving *serving_at(u32 number)
{
	u32 index = number - 1;

	return bpf_map_lookup_elem(&servings, &index);
}

/* A bit for each pid, and for others that differ by SERVED_PIDS: without it, the thread has never
 * served. To ask that costs less than to find no storage of the thread's. */
#define SERVED_PIDS 131072

ARRAY(served_pids, u64, SERVED_PIDS / 64) SHARED(1);

static __always_inline u64 *served_pids_of(u32 pid)
{
	u32 word = pid % SERVED_PIDS / 64;

	return bpf_map_lookup_elem(&served_pids, &word);
}

/* thread_number() of one that has served. */
static __always_inline u32 *serving_number(struct task_struct *task)
{
	u32 pid = task->pid;
	u64 *pids = served_pids_of(pid);

	return pids && *(volatile u64 *)pids >> pid % 64 & 1 ? thread_number(task) : NULL;
}

/* NULL: it has never served. */
static inline struct serving *serving_of(struct task_struct *task, u32 *ret_number)
{
	u32 *number = serving_number(task);
	struct serving *s = number ? serving_at(*number) : NULL;

	if (!s || s->pid != (u32)task->pid)
		return NULL;
	*ret_number = *number;
	return s;
}

static inline void note_served(const struct task_struct *task)
{
	u32 pid = task->pid;
	u64 *pids = served_pids_of(pid);

	if (pids)
		__sync_fetch_and_or(pids, 1ULL << pid % 64);
}

static inline bool is_loop(const struct serving *s)
{
	return s->in_loop || s->overlaps * LOOP_FRACTION > s->responses;
}

#endif
