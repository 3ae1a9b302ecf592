/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Sums for each service what its threads with one request at a time do while they have a request
 * in hand, up to the moment at which its sockets are walked.
 */
#ifndef IN_HAND_BPF_H
#define IN_HAND_BPF_H

#include "serving.bpf.h"

/* Run-queue wait of the thread at this address, the current wait included; the kernel adds that to
 * run_delay only when the thread gets the CPU. Whether it waits: as task_queued(). Global: verified
 * once. */
__noinline u64 queued_until_now(u64 thread)
{
	const struct task_struct *task = (const void *)thread;
	u64 queued = BPF_CORE_READ(task, sched_info.last_queued);
	u64 all = BPF_CORE_READ(task, sched_info.run_delay);

	if (!queued || BPF_CORE_READ(task, __state) ||
	    BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu) || !task_has_rq(task))
		return all;
	return all + grown(BPF_CORE_READ(task, se.cfs_rq, rq, clock), queued);
}

/* Times of the thread until now. It may run or sleep meanwhile. */
static void hand_until_now(struct serving *s, u64 now, struct in_hand *ret_hand)
{
	const struct task_struct *task = (const void *)s->task;
	u64 passed = grown(now, s->since_ns), queued_ns;

	*ret_hand = s->done;
	if (!socket_in_hand(s) || !s->exec_ns || !is_since_attached(s->since_ns))
		return;
	queued_ns = queued_until_now(s->task);
	ret_hand->passed_ns += passed;
	ret_hand->queued_ns += grown(queued_ns, s->queued_ns);
	ret_hand->blocked_ns +=
		serve_blocked(s, passed, BPF_CORE_READ(task, se.sum_exec_runtime), queued_ns);
}

/* Returns the growth. If too much was published before, because the counters of a running thread
 * lagged, it returns less until that is made up for. */
static u64 publish_more(u64 *published, u64 now)
{
	u64 more = grown(now, *published);

	*published += more;
	return more;
}

__noinline int hand_publish(u32 number)
{
	struct serving *s = serving_at(number);
	struct service_request *r = s && s->pid ? service_request_of(s->row) : NULL;
	struct in_hand hand, more;

	if (!r)
		return 0;
	hand_until_now(s, bpf_ktime_get_ns(), &hand);
	more.passed_ns = publish_more(&s->published.passed_ns, hand.passed_ns);
	more.queued_ns = publish_more(&s->published.queued_ns, hand.queued_ns);
	more.blocked_ns = publish_more(&s->published.blocked_ns, hand.blocked_ns);
	more.client_ns = publish_more(&s->published.client_ns, hand.client_ns);
	more.woken_ns = publish_more(&s->published.woken_ns, hand.woken_ns);
	add(&r->hand.woken_ns, more.woken_ns);
	if (is_loop(s))
		return 0;
	add(&r->hand.passed_ns, more.passed_ns);
	add(&r->hand.queued_ns, more.queued_ns);
	add(&r->hand.blocked_ns, more.blocked_ns);
	add(&r->hand.client_ns, more.client_ns);
	return 0;
}

static long hand_publish_next(u32 i, void *unused)
{
	hand_publish(i + 1);
	return 0;
}

/* Without bpf_loop() nothing is published: samples are used instead. */
static void hands_publish(void)
{
	note_number(numbers_given); /* two CPUs that begin at once may leave the lower one */
	if (kernel_has_loop())
		bpf_loop(numbers_given, hand_publish_next, NULL, 0);
}

#endif
