/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The threads that serve, by thread number, and how long each was blocked with a request in hand:
 * it waited for a lock, a disk or an upstream, and could receive no other request.
 *
 * A thread has a request in hand from its first receive to the first send of the response; what it
 * does from there to each further send counts as well. The time for which it has slept meanwhile
 * is the growth of its exec_start minus that of its CPU time and its run-queue wait. The kernel
 * updates all three at the same moments, so this is exact also while the thread runs. It is not
 * exact across CPUs, whose clocks differ by what interrupts took from them; there the time that
 * has passed is used, which is right to within a tick.
 *
 * An event loop may wait for events between two sends of a response. The last sample that was taken
 * between two sends of a response, by the walk or by the delay probe, shows whether a thread does
 * so; such time does not count. Until the first of these samples it counts as blocked.
 *
 * A thread receives other requests meanwhile if it receives one while it has another in hand, or
 * if another thread responds, or if it waits for events with a request in hand (blocked.bpf.h): it
 * is an event loop, or hands requests on. If that is so for more than one request in
 * LOOP_FRACTION, the thread counts as never blocked. Below that, an event loop with a request in
 * hand for a share of its time receives more than that share of its requests meanwhile, so that it
 * seems blocked for at most that share.
 *
 * A request without a response is not in hand for ever: it ends when the service closes the socket.
 * TCP has a hook for that; other sockets are found closed when the thread is sampled or receives
 * another request. The walk also drops a request when the thread is in a call that receives more on
 * the same socket, or polls it, or accepts; or after SERVE_NS_MAX unless the thread waits for a
 * disk. The time until more of a request comes does not count as blocked.
 */
#ifndef SERVING_BPF_H
#define SERVING_BPF_H

#include "attached.bpf.h"
#include "refused.bpf.h"
#include "serving_socket.bpf.h"
#include "tail.bpf.h"

#define SERVE_NS_MAX 60000000000ULL

u64 readings;

static void serving_begin(struct serving *s, struct task_struct *task, u32 number)
{
	__builtin_memset(s, 0, sizeof(*s));
	s->seen_cpu_ns = task->se.sum_exec_runtime;
	s->seen_queued_ns = task->sched_info.run_delay;
	s->seen_ns = bpf_ktime_get_ns();
	if (grown(s->seen_ns, task->start_time) > BURST_NS_MAX) /* it has done something else */
		s->queued_ns = s->seen_queued_ns;
	s->task = bpf_get_current_task();
	note_served(task);
	note_number(number);
	s->pid = task->pid;
}

/* The entry of the current thread, made if necessary; NULL: there is no room. */
static __noinline struct serving *serving_make(u32 *ret_number)
{
	struct task_struct *task = current_task();
	u32 number = thread_number_claim(task); /* *ret_number is also another thread's */
	struct serving *s = or_refused(serving_at(number));

	*ret_number = number;
	if (s && s->pid != (u32)task->pid)
		serving_begin(s, task, number);
	return s;
}

static __always_inline bool is_of_current(const struct serving *s)
{
	return s->pid == (u32)current_task()->pid;
}

/* The same; *number is what the socket remembers. */
static __always_inline struct serving *serving_now(u32 *number)
{
	struct serving *s = serving_at(*number);

	return s && is_of_current(s) ? s : serving_make(number);
}

/* When the CPU time was updated, by the CPU's clock that also measures run-queue wait: that clock
 * goes on while the hypervisor has the CPU, that of exec_start does not. An interrupt that updates
 * both clocks between the two reads makes the result too small. */
static __always_inline u64 exec_start(const struct task_struct *task)
{
	const struct rq *rq = task_rq(task);

	return task->se.exec_start + (task_has_rq(task) ? rq->clock - rq->clock_task : 0);
}

/* How long a thread has run and waited for a CPU, and on which CPU it is. */
struct thread_times {
	u64 exec_ns; /* exec_start(), 0: not known, as the next ones but queued_ns */
	u64 cpu_ns;
	u64 queued_ns;
	u32 cpu;
};

/* Of the current thread. Where requests often overlap it counts as never blocked, and only its wait
 * for a CPU is needed. */
static __always_inline struct thread_times thread_times_now(const struct serving *s)
{
	struct task_struct *task = current_task();
	struct thread_times times = { .queued_ns = task->sched_info.run_delay };

	if (!overlaps_often(s)) {
		times.exec_ns = exec_start(task);
		times.cpu_ns = task->se.sum_exec_runtime;
		times.cpu = bpf_get_smp_processor_id();
	}
	return times;
}

static __always_inline void serve_since(struct serving *s, const struct thread_times *times,
					u64 now)
{
	s->since_ns = now;
	s->cpu = times->cpu;
	s->exec_ns = times->exec_ns;
	s->cpu_ns = times->cpu_ns;
	s->queued_ns = times->queued_ns;
}

static __always_inline void serve_from(struct serving *s, const struct served *at, u64 began_ns)
{
	s->served = readings + 1;
	s->inode = at->inode;
	s->close_seen = at->close_seen;
	s->socket = at->sk;
	s->responded = 0;
	s->began_ns = began_ns;
}

/* The current thread has received a request on this socket. began_ns: when the request arrived. */
static __always_inline void serve_begin(struct served *at, u64 began_ns, u64 now)
{
	struct serving *s = serving_now(&at->thread);
	struct thread_times times;
	struct moment since, is;

	if (!s)
		return;
	if (s->socket && (s->in_loop || s->close_seen || socket_in_hand(s)))
		s->overlaps++;
	times = thread_times_now(s);
	since = (struct moment){ s->since_ns, s->queued_ns };
	is = (struct moment){ now, times.queued_ns };
	s->done.woken_ns += woken_wait(&s->burst, &since, began_ns, &is);
	serve_from(s, at, began_ns);
	serve_since(s, &times, now);
}

/* It has received so many others with the same call. */
static __always_inline void serve_others(const struct served *at, u32 others)
{
	struct serving *s = serving_at(at->thread);

	if (s)
		s->overlaps += others;
}

/* The current thread does something else for its clients than respond. */
static __always_inline void serve_beside(struct served *at)
{
	struct serving *s = serving_now(&at->thread);

	if (s)
		s->served = readings + 1;
}

/* How long the thread was blocked since since_ns. slept_ns: the growth of exec_start on the same
 * CPU, otherwise the time that has passed. */
static __always_inline u64 serve_blocked(const struct serving *s, u64 slept_ns, u64 cpu_ns,
					 u64 queued_ns)
{
	u64 busy = cpu_ns - s->cpu_ns + queued_ns - s->queued_ns;

	return slept_ns > busy ? slept_ns - busy : 0;
}

/* What a thread has slept for with a request in hand. */
enum sleep {
	SLEEP_BLOCKED,
	SLEEP_CLIENT, /* until more of the request came */
	SLEEP_EVENTS, /* it could receive other requests */
};

static __always_inline void serve_add(struct serving *s, enum sleep sleep,
				      const struct thread_times *times, u64 now)
{
	u64 passed = now > s->since_ns ? now - s->since_ns : 0;
	u64 slept = s->cpu == times->cpu ? grown(times->exec_ns, s->exec_ns) : passed;
	u64 blocked = serve_blocked(s, slept, times->cpu_ns, times->queued_ns);

	s->done.passed_ns += sleep == SLEEP_EVENTS ? grown(passed, blocked) : passed;
	s->done.queued_ns += times->queued_ns - s->queued_ns;
	if (sleep == SLEEP_CLIENT)
		s->done.client_ns += blocked;
	else if (sleep == SLEEP_BLOCKED)
		s->done.blocked_ns += blocked;
}

/* Counts what the current thread has done since serve_since(). */
static __always_inline void serve_count(struct serving *s, enum sleep sleep, u64 now)
{
	struct thread_times times = thread_times_now(s);

	if (s->exec_ns && times.exec_ns)
		serve_add(s, sleep, &times, now);
	serve_since(s, &times, now);
}

/* The current thread has received more of the request. */
static __always_inline void serve_again(struct served *at, u64 now)
{
	struct serving *s = serving_now(&at->thread);
	struct thread_times times;

	if (!s)
		return;
	if (s->socket == at->sk) {
		serve_count(s, SLEEP_CLIENT, now);
	} else if (!s->socket) {
		times = thread_times_now(s);
		serve_from(s, at, now);
		serve_since(s, &times, now);
	}
}

/* The current thread continues the response. */
static __always_inline void serve_respond_again(const struct served *at, u64 now)
{
	struct serving *s = serving_at(at->thread);

	if (!s || s->responded != at->sk || !is_of_current(s))
		return;
	s->sends++;
	if (s->seen_to_wait_ns == s->since_ns)
		s->waits = s->seen_to_wait;
	serve_count(s, s->waits ? SLEEP_EVENTS : SLEEP_BLOCKED, now);
	tail_decide(s, now);
}

/* What it has received turned out to be no request. */
static __always_inline void serve_drop(const struct served *at)
{
	struct serving *s = serving_at(at->thread);

	if (s && s->socket == at->sk && is_of_current(s))
		s->socket = 0;
}

/* The service has closed the socket, or sends no more on it. What another thread does that has
 * received from it is unknown. */
static __always_inline void serve_close(const struct served *at, u64 now)
{
	struct serving *s = serving_at(at->thread);

	if (!s || s->socket != at->sk)
		return;
	if (is_of_current(s))
		serve_count(s, SLEEP_BLOCKED, now);
	s->socket = 0;
}

/* The client has reset the connection: there is no event when the service closes the socket. */
static __always_inline void serve_reset(const struct served *at)
{
	struct serving *s = serving_at(at->thread);

	if (s && s->socket == at->sk)
		s->close_seen = false;
}

static __always_inline void serve_end(struct serving *s, u64 sk, u64 now)
{
	serve_count(s, SLEEP_BLOCKED, now);
	tail_decide(s, now);
	s->socket = 0;
	s->responded = sk;
}

static __noinline void serve_hand_on(struct serving *receiver, u64 sk, u64 now)
{
	struct serving *s;
	u32 number;

	if (receiver && receiver->socket == sk) {
		receiver->socket = 0;
		receiver->overlaps++;
		receiver->responses++;
	}
	s = serving_make(&number);
	if (!s)
		return;
	s->served = readings + 1;
	s->responder_ns = now;
}

/* The current thread starts the response. shared: other threads may receive on the same socket. */
static __always_inline void serve_respond(struct served *at, bool shared, u64 now)
{
	struct serving *s = shared ? serving_now(&at->thread) : serving_at(at->thread);

	if (s && is_of_current(s)) {
		s->served = readings + 1;
		s->responses++;
		if (s->socket == at->sk)
			serve_end(s, at->sk, now);
	} else {
		serve_hand_on(s, at->sk, now);
	}
}

#endif
