/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Decides to which part of the requests' time a sample of a serving thread belongs: of a thread
 * that has a request in hand, that continues a response, or that responds to requests which other
 * threads have received.
 */
#ifndef FOLLOW_BPF_H
#define FOLLOW_BPF_H

#include "sample.bpf.h"
#include "serving_socket.bpf.h"
#include "timer.bpf.h"

/* Since a thread last responded to a request that another thread had received. */
#define RESPONDER_NS_MAX 30000000000ULL
/* Since a thread without a request in hand last served: it may still wait for upstreams. */
#define SERVED_NS_MAX 60000000000ULL

/* What the sampler remembers of a serving thread, by its number. */
struct followed {
	u32 pid;
	u32 sends; /* of responses that went on, as of the last sample */
	u32 part;  /* counts if its last response goes on */
	bool idles_in_futex;
	u64 pending_ns;
	u64 served, served_ns; /* its member `served`, and when that changed last */
	u64 idle_ns; /* when it was found to wait for nothing but the next request, 0: it was not */
};

ARRAY(followed, struct followed, THREADS_MAX);

/* The verifier of older kernels bounds only a register of 64 bits. */
static __always_inline void part_add(u64 *parts, u64 part, u64 count, u64 ns)
{
	asm volatile("" : "+r"(part));
	if (part < count)
		add(&parts[part], ns);
}

static __always_inline void part_count(u64 *parts, u64 part)
{
	part_add(parts, part, PARTS, sample_ns);
}

static struct followed *followed_thread(u32 number, u32 pid)
{
	u32 index = number - 1;
	struct followed *f = bpf_map_lookup_elem(&followed, &index);

	if (f && f->pid != pid) {
		__builtin_memset(f, 0, sizeof(*f));
		f->pid = pid;
		f->part = PART_NONE;
	}
	return f;
}

/* Can a sample of the thread count? It cannot where the thread has been idle for long, or has done
 * nothing since it was found idle. */
static bool is_sampled(const struct serving *s, struct followed *f, u64 now)
{
	if (f->served != s->served) {
		f->served = s->served;
		f->served_ns = now;
	}
	if (s->socket)
		return true;
	return now - f->served_ns < SERVED_NS_MAX &&
	       (f->idle_ns <= s->since_ns || f->idle_ns <= s->responder_ns);
}

/* For a thread that sleeps, or has slept and waits for a CPU. */
static bool is_in_epoll(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return !regs_32_bit(regs) && call_kind(call_number(regs)) == CALL_EPOLL;
}

/* Does it wait in a futex, in which a pool's threads may idle, too? */
static __always_inline bool is_in_futex(u32 part)
{
	return part == PART_LOCK || part == PART_TIMED_WAIT;
}

static bool is_responder(const struct serving *s)
{
	return s->responder_ns && bpf_ktime_get_ns() - s->responder_ns < RESPONDER_NS_MAX;
}

static void count_in_futex(struct samples *seen, u32 part)
{
	add(part == PART_LOCK ? &seen->futex_ns : &seen->timed_futex_ns, sample_ns);
}

/* An event loop has a request in hand. A futex in which it idles does not block it; neither does
 * epoll if it waits for a CPU there. */
static void count_loop(struct samples *seen, struct task_struct *task, const struct serving *s,
		       const struct followed *f, u32 part)
{
	if (is_in_futex(part) && is_responder(s))
		count_in_futex(seen, part);
	else if (is_in_futex(part) ? !f->idles_in_futex
				   : part != PART_RUNQUEUE || !is_in_epoll(task))
		part_count(seen->many_ns, part);
}

/* A thread has a request in hand. How long a thread waits for more of its only request is counted
 * exactly elsewhere. */
static void count_in_hand(struct samples *seen, struct task_struct *task, const struct serving *s,
			  const struct followed *f, u32 part)
{
	if (is_loop(s))
		count_loop(seen, task, s, f, part);
	else if (part != PART_CLIENT || !task_receives(task))
		part_count(seen->one_ns, part);
}

/* Chooses one of the samples since the thread's last send, each with the same probability. */
static void follow_response(struct followed *f, u32 part)
{
	f->pending_ns += sample_ns;
	if (f->part >= PARTS ||
	    bpf_get_prandom_u32() % (f->pending_ns >> 10 ?: 1) < sample_ns >> 10)
		f->part = part;
}

/* The thread has started a response. Its samples count if the response goes on, which the next
 * sample shows. */
static void count_responded(struct samples *seen, const struct serving *s, struct followed *f,
			    u32 part)
{
	bool went_on = s->sends != f->sends;

	if (went_on)
		part_add(is_loop(s) ? seen->many_ns : seen->one_ns, f->part, PARTS, f->pending_ns);
	if (went_on || part >= PARTS) {
		f->pending_ns = 0;
		f->part = PART_NONE;
	}
	f->sends = s->sends;
	if (part < PARTS)
		follow_response(f, part);
}

/* A thread that has responded to requests of other threads, and may do so again. */
static void count_responder(struct samples *seen, u32 part)
{
	if (is_in_futex(part))
		count_in_futex(seen, part);
	else
		part_count(seen->many_ns, part);
}

/* May a thread do this between two sends of a response? It does not when it idles. */
static bool is_of_response(struct task_struct *task, u32 part)
{
	return !is_in_futex(part) && (part != PART_CLIENT || !task_receives(task));
}

/* Counts whether those threads are all busy that could go on with a request: workers only take
 * work from others; runners, as of Go, and event loops receive requests, too. */
static void count_busy(struct samples *seen, const struct serving *s, u32 part)
{
	bool responds = is_responder(s), receives = s->began_ns;

	if (responds)
		add(receives ? &seen->runner_ns : &seen->pool_ns, sample_ns);
	if (!receives || is_in_futex(part))
		return;
	add(part == PART_NONE ? &seen->idle_ns : &seen->busy_ns, sample_ns);
}

static void count_serving(struct samples *seen, struct task_struct *task, struct serving *s,
			  struct followed *f, u32 part)
{
	bool in_hand = s->socket;

	if (!in_hand && s->responded && part >= PART_BLOCKED)
		note_pause(s, part == PART_NONE);
	count_responded(seen, s, f,
			!in_hand && s->responded && is_of_response(task, part) ? part : PART_NONE);
	if (in_hand)
		count_in_hand(seen, task, s, f, part);
	else if (part >= PART_BLOCKED)
		f->idles_in_futex = is_in_futex(part);
	if (!in_hand && !s->responded && is_responder(s))
		count_responder(seen, part);
	count_busy(seen, s, part);
}

#endif
