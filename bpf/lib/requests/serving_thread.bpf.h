/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * State of each thread that serves, in maps of the service object: the request probe counts
 * (serving.bpf.h), the delay probe samples what such a thread does.
 */
#ifndef SERVING_THREAD_BPF_H
#define SERVING_THREAD_BPF_H

#include "services/service_request.bpf.h"
#include "woken.h"

#define THREAD_NUMBERS SHARED(1)
#include "number.bpf.h"

#define LOOP_FRACTION 16

/* What a socket remembers for the threads that serve it. */
struct served {
	u64 sk;          /* its address */
	u64 inode;       /* see socket_inode() */
	u32 thread;      /* number of the thread that received last */
	bool close_seen; /* there is an event when the service closes it */
};

/* Of a thread that has received or responded to a request. */
struct serving {
	u32 pid; /* of the thread, 0: free */
	u32 row;
	u64 served;      /* 1 + `readings` when it last served, 0: never */
	u64 socket;      /* address of the socket whose request it has in hand, 0: none */
	u64 responded;   /* likewise, the one on which it has responded since it had one in hand */
	u64 inode;       /* of the socket of the request in hand, see socket_inode() */
	u64 began_ns;    /* arrival of the request in hand, or to which it has responded */
	u64 since_ns;    /* since when it has it in hand, or the last send of the response */
	u64 exec_ns;     /* exec_start then, 0: its requests overlapped, and cpu_ns is unknown */
	u64 cpu_ns;      /* CPU time then */
	u64 queued_ns;   /* run-queue wait then */
	u16 cpu;         /* CPU then */
	bool close_seen; /* as of the socket of the request in hand */
	u32 responses;   /* recent ones */
	u32 overlaps;    /* of these, during which it received others, or that other threads sent */
	u32 sends;       /* sends after the first, of all responses */
	u64 task;        /* its address */
	/* began_ns of the request that sampled_us is of, 0: none */
	u64 sampled_ns;
	struct moment burst; /* since when it was not idle, see woken.h */
	struct in_hand done; /* with requests to which it has responded */
	/* Added to the service, time of the request in hand included, see in_hand.bpf.h. */
	struct in_hand published;
	u64 responder_ns; /* when it last responded to what another thread had received, 0: never */
	/* As of the last walk that has visited it: */
	u64 seen_ns;         /* its time counts from then, 0: not at all */
	u64 seen_cpu_ns;     /* CPU time then */
	u64 seen_queued_ns;  /* run-queue wait then */
	u64 seen_blocked_ns; /* time blocked with requests in hand then */
	u64 rested;          /* 1 + `readings` when it was found not to have served */
	u32 walk;            /* number of the last walk that has visited it */
	/* When it was last found with a request in hand: */
	bool in_loop;   /* it waited for events */
	bool in_kernel; /* it waited for what no signal ends, such as a disk */
	/* Between two sends of a response: */
	bool waits;          /* it waits for events */
	bool seen_to_wait;   /* as last seen after a send; counts if the response goes on */
	u64 seen_to_wait_ns; /* since_ns then */
	/* Samples of one request, see tail.bpf.h. */
	u32 sampled_us[PARTS];
};

/* By thread_number() - 1. */
ARRAY(servings, struct serving, THREADS_MAX) SHARED(2);

/* Its only entry: no thread that serves has a higher number. */
ARRAY(servings_end, u32, 1) SHARED(1);

static inline void note_number(u32 number)
{
	u32 zero = 0, *end = bpf_map_lookup_elem(&servings_end, &zero);

	if (end && *end < number)
		*end = number;
}

static __always_inline struct serving *serving_at(u32 number)
{
	u32 index = number - 1;

	return bpf_map_lookup_elem(&servings, &index);
}

/* A bit for each pid modulo SERVED_PIDS: while it is not set, the thread has never served. Testing
 * it costs less than a failing look-up in the thread's storage. */
#define SERVED_PIDS 131072

ARRAY(served_pids, u64, SERVED_PIDS / 64) SHARED(1);

static __always_inline u64 *served_pids_of(u32 pid)
{
	u32 word = pid % SERVED_PIDS / 64;

	return bpf_map_lookup_elem(&served_pids, &word);
}

/* thread_number() of a thread that has served, NULL: it has not. */
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

/* The thread has been seen asleep after a send. waits: for events. */
static inline void note_pause(struct serving *s, bool waits)
{
	s->seen_to_wait = waits;
	s->seen_to_wait_ns = s->since_ns;
}

static __always_inline bool overlaps_often(const struct serving *s)
{
	return s->overlaps * LOOP_FRACTION > s->responses;
}

static inline bool is_loop(const struct serving *s)
{
	return s->in_loop || overlaps_often(s);
}

#endif
