/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Does an event loop wait for a timer? Event loops keep their timers themselves and give epoll the
 * time until the next one as its timeout. One that is not longer than the service's requests take
 * is near: it may be what a request waits for. Those that guard idle connections are far.
 *
 * Limits: the timeout of epoll_pwait2 is in memory of the process and stays unread; timers behind
 * a timerfd are not seen.
 */
#ifndef TIMER_BPF_H
#define TIMER_BPF_H

#include "awaited.bpf.h"

#define NS_PER_MS 1000000ULL

/* tail_ns: 95th percentile of the service's response times, which loops exceed when they round a
 * timeout up to a millisecond, and respond late. */
static __always_inline bool timer_is_near(const struct pt_regs *regs, u64 tail_ns)
{
	s32 timeout_ms = (s32)call_argument(regs, 4);

	return call_number(regs) != CALL_EPOLL_PWAIT2_NUMBER && timeout_ms > 0 && tail_ns &&
	       (u64)timeout_ms * NS_PER_MS <= tail_ns + tail_ns / 8 + NS_PER_MS;
}

/* Counts what a thread of a service waits for that sleeps in epoll. */
static void count_in_epoll(struct samples *seen, struct task_struct *task, u64 tail_ns)
{
	bool open = awaited_count(task, seen, tail_ns);

	add(&seen->epoll_ns[open], sample_ns);
	if (timer_is_near((struct pt_regs *)bpf_task_pt_regs(task), tail_ns))
		add(&seen->timer_ns[open], sample_ns);
}

#endif
