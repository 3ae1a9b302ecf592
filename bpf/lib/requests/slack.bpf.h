/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How much more a service could do: at each walk the smaller of two shares. They need no
 * calibration and mean the same for event loops, pools of threads and processes.
 *
 * Threads: of the time of the threads that have served since the last reading, the share in which
 * they neither ran nor waited for a CPU nor were blocked with a request in hand. If none has
 * served, all of it.
 *
 * CPUs: of the time of the CPUs that the service may use, what was idle, plus a part of what
 * others used there: the part for which the service does not have to wait, C / (C + Q), from its
 * CPU time and its run-queue wait. Both are those of the whole service if the process probe counts
 * them, otherwise those of the threads that serve. Under a quota it is at most the remainder of
 * the quota.
 */
#ifndef SLACK_BPF_H
#define SLACK_BPF_H

#include "blocked.bpf.h"
#include "cputime.h"
#include "in_hand.bpf.h"
#include "request.bpf.h"
#include "services/service_cpu.bpf.h"

#define CAPACITY_SAMPLES 2048
#define CAPACITY_NS_MAX 300000000000ULL
#define CAPACITY_SHIFT 12

static u32 walk_number;
static volatile u64 address_now; /* through memory a pointer becomes a number to the verifier */

/* Does the call that a thread is in tell what it slept for? One that waits for a CPU may not have
 * slept: a send wakes the receiver, which may get the CPU first. */
static bool has_slept(struct task_struct *task)
{
	u32 number = call_number((struct pt_regs *)bpf_task_pt_regs(task));

	return task->__state || (number != ~0U && call_kind(number) != CALL_SEND);
}

/* For a thread with a request in hand, or after a response: notes whether it waits for events, and
 * drops the request if it waits for more of it or for another one. */
static void inspect_call(struct task_struct *task, struct serving *s)
{
	u64 sk = socket_in_hand(s);
	enum blocked what;

	if (!sk && !s->responded)
		return;
	what = blocked_on(task, sk ?: s->responded, s->began_ns);
	if (!sk) {
		if (what != BLOCKED_NOT && has_slept(task))
			note_pause(s, what >= BLOCKED_EVENTS);
		return;
	}
	s->in_loop = what == BLOCKED_EVENTS;
	s->in_kernel = task->__state & TASK_UNINTERRUPTIBLE;
	if (what == BLOCKED_IDLE || (what == BLOCKED_CLIENT && task_receives(task)))
		s->socket = 0;
}

/* --- threads --- */

static struct load *load_of(u32 row)
{
	struct request_row *whole = request_row(slot_find(&row_slots, row) * shards);

	return whole ? &whole->load : NULL;
}

/* Time blocked with requests in hand since the last visit. */
static u64 blocked_since(struct serving *s, u64 cpu_ns, u64 queued_ns, u64 now)
{
	u64 all = s->done.blocked_ns, passed = grown(now, s->since_ns), since;

	if (!is_since_attached(s->since_ns) || (!s->in_kernel && passed > SERVE_NS_MAX))
		s->socket = 0;
	if (s->socket && s->exec_ns)
		all += serve_blocked(s, passed, cpu_ns, queued_ns);
	since = grown(all, s->seen_blocked_ns);
	s->seen_blocked_ns = all;
	return is_loop(s) ? 0 : since;
}

static void halve_old_responses(struct serving *s)
{
	s->responses -= s->responses / 2;
	s->overlaps -= s->overlaps / 2;
}

static void note_times(struct serving *s, u64 cpu_ns, u64 wait_ns, u64 now)
{
	s->seen_ns = now;
	s->seen_cpu_ns = cpu_ns;
	s->seen_queued_ns = wait_ns;
}

static void count_served(struct serving *s, struct load *l, u64 cpu_ns, u64 wait_ns, u64 now)
{
	u64 elapsed = grown(now, s->seen_ns), cpu = grown(cpu_ns, s->seen_cpu_ns);
	u64 wait = grown(wait_ns, s->seen_queued_ns);
	u64 busy = cpu + wait + blocked_since(s, cpu_ns, wait_ns, now);

	add(&l->serving_ns, elapsed);
	add(&l->busy_ns, busy < elapsed ? busy : elapsed);
	add(&l->cpu_ns, cpu);
	add(&l->wait_ns, wait);
	note_times(s, cpu_ns, wait_ns, now);
	halve_old_responses(s);
}

/* Counts the thread with this number. cpu_ns, wait_ns: its CPU time and run-queue wait until now.
 * true: it has served. The time of a thread that has not served counts later if it serves before
 * the next reading. Global: verified once. */
__noinline int slack_count_thread(u32 number, u64 cpu_ns, u64 wait_ns)
{
	struct serving *s = serving_at(number);
	struct load *l = s ? load_of(s->row) : NULL;
	u64 now = bpf_ktime_get_ns();

	if (!s || !l)
		return false;
	socket_in_hand(s);
	s->walk = walk_number;
	l->walk = walk_number;
	if (s->served == readings + 1 || (s->socket && !is_loop(s))) {
		count_served(s, l, cpu_ns, wait_ns, now);
		return true;
	}
	if (s->rested != readings + 1) {
		s->rested = readings + 1;
		note_times(s, cpu_ns, wait_ns, now);
	}
	return false;
}

/* A thread that the walk has not visited has slept. */
static long count_asleep_thread(u32 i, void *unused)
{
	struct serving *s = serving_at(i + 1);

	if (s && s->seen_ns && s->walk != walk_number)
		slack_count_thread(i + 1, s->seen_cpu_ns, s->seen_queued_ns);
	return 0;
}

/* Adds what a serving thread may use: the CPUs of all threads together, and the largest quota. */
static void add_limits(struct load *l, const struct task_struct *task)
{
	u64 quota;

	address_now = (u64)task;
	quota = cpu_quota(address_now);

	if (l->limits_walk != walk_number) {
		l->limits_walk = walk_number;
		l->quota = quota;
		l->any_cpu = false;
		__builtin_memset(&l->set, 0, sizeof(l->set));
	}
	l->quota = quota && l->quota ? (quota > l->quota ? quota : l->quota) : 0;
	if ((u32)task->nr_cpus_allowed >= cpus.count)
		l->any_cpu = true;
	else
		cpu_set_add(&l->set, task);
}

static void slack_visit(struct task_struct *task)
{
	u32 *number = serving_number(task);
	struct serving *s = number ? serving_at(*number) : NULL;
	struct load *l;

	if (!s || !s->seen_ns)
		return;
	s->row = service_of(task);
	inspect_call(task, s);
	address_now = (u64)task;
	if (slack_count_thread(*number, task->se.sum_exec_runtime, queued_until_now(address_now)) &&
	    cpus.are_known) {
		l = load_of(s->row);
		if (l)
			add_limits(l, task);
	}
	if (!*(volatile u32 *)number)
		s->seen_ns = 0; /* it has just exited */
}

static void slack_exit(struct task_struct *task)
{
	u32 *number = serving_number(task);
	struct serving *s = number ? serving_at(*number) : NULL;

	if (!s)
		return;
	if (s->seen_ns) {
		s->row = service_of(task);
		slack_count_thread(*number, task->se.sum_exec_runtime, task->sched_info.run_delay);
		hand_publish(*number);
	}
	__builtin_memset(s, 0, sizeof(*s));
	thread_number_give(number);
}

/* --- services, at the end of the walk --- */

/* Of one service, from walk to walk. */
struct cpu_room {
	u64 cpu_ns, wait_ns; /* C and Q */
	u64 cpus_ns;         /* of the CPUs that it may use */
	u64 room_ns;         /* of that, what it could get */
};

/* From the process probe or from the serving threads, whichever has more. row: that of the slot's
 * owner, 0: none. */
static void read_cpu_use(struct load *l, u32 row, struct cpu_room *u)
{
	struct service_cpu *all = row ? service_cpu_of(row) : NULL;
	u64 cpu_ns = all ? all->cpu_ns : 0, wait_ns = all ? all->wait_ns : 0;

	u->cpu_ns = __sync_lock_test_and_set(&l->cpu_ns, 0);
	u->wait_ns = __sync_lock_test_and_set(&l->wait_ns, 0);
	if (cpu_ns - l->all_cpu_ns > u->cpu_ns) {
		u->cpu_ns = cpu_ns - l->all_cpu_ns;
		u->wait_ns = grown(wait_ns, l->all_wait_ns);
	}
	l->all_cpu_ns = cpu_ns;
	l->all_wait_ns = wait_ns;
}

static void read_cpu_room(const struct load *l, struct cpu_room *u)
{
	u64 idle_ns = cpus.idle_ns, used, limit = ~0ULL;
	u32 count = cpus.count;

	if (!l->any_cpu) {
		cpus_sum(&l->set);
		idle_ns = cpu_sum.idle_ns;
		count = cpu_sum.count;
	}
	u->cpus_ns = count * cpus.elapsed_ns;
	used = grown(u->cpus_ns, idle_ns + u->cpu_ns);
	u->room_ns = idle_ns +
		     (u->wait_ns ? cputime_part(used, u->cpu_ns, u->cpu_ns + u->wait_ns) : used);
	if (l->quota)
		limit = (cpus.elapsed_ns >> 10) * l->quota >> (QUOTA_SHIFT - 10);
	if (limit < u->cpus_ns) {
		u->cpus_ns = limit;
		if (u->room_ns > grown(limit, u->cpu_ns))
			u->room_ns = grown(limit, u->cpu_ns);
	}
	if (u->room_ns > u->cpus_ns)
		u->room_ns = u->cpus_ns;
}

static u64 exchanges_of(u32 slot)
{
	u64 count = 0;

	for (u32 i = 0; i < shards && i < SHARDS_MAX; i++) {
		struct request_row *row = request_row(slot * shards + i);

		count += row ? row->exchanges : 0;
	}
	return count;
}

/* Requests per second, in 1/1000: at the present rate and cost, if all the room were used. */
static u64 capacity_milli(const struct load *l)
{
	u64 milli = l->window.exchanges * 1000000 / (l->window.elapsed_ns / 1000000 ?: 1);

	return milli + milli * (l->window.room_ns >> CAPACITY_SHIFT) /
			       (l->window.cpu_ns >> CAPACITY_SHIFT ?: 1);
}

static void show_capacity(struct request_row *whole, const struct cpu_room *u, u64 exchanges)
{
	struct load *l = &whole->load;

	l->window.exchanges += exchanges;
	l->window.cpu_ns += u->cpu_ns;
	l->window.room_ns += u->room_ns;
	l->window.elapsed_ns += cpus.elapsed_ns;
	if (l->window.exchanges >= CAPACITY_SAMPLES && u->cpus_ns) {
		whole->capacity = capacity_milli(l);
		whole->capacity_known = 1;
	} else if (l->window.elapsed_ns < CAPACITY_NS_MAX) {
		return;
	} else {
		whole->capacity_known = 0;
	}
	__builtin_memset(&l->window, 0, sizeof(l->window));
}

static void begin_interval(struct request_row *whole)
{
	struct load *l = &whole->load;

	l->interval.began_ns = interval_began_ns;
	l->interval.slack_ns = whole->slack_ns;
	l->interval.elapsed_ns = whole->elapsed_ns;
	l->interval.free_ns = whole->free_ns;
	l->interval.serving_ns = whole->serving_ns;
	l->interval.room_ns = whole->room_ns;
	l->interval.cpus_ns = whole->cpus_ns;
}

/* The smaller share is that of the whole interval, in which there may be several walks. */
static void show_slack(struct request_row *whole, const struct cpu_room *u, u64 serving, u64 busy)
{
	const struct load *l = &whole->load;
	u64 elapsed, slack, cpus_slack;

	if (l->interval.began_ns != interval_began_ns)
		begin_interval(whole);
	add(&whole->serving_ns, serving);
	add(&whole->free_ns, serving - busy);
	add(&whole->cpus_ns, u->cpus_ns);
	add(&whole->room_ns, u->room_ns);
	add(&whole->elapsed_ns, cpus.elapsed_ns);
	elapsed = whole->elapsed_ns - l->interval.elapsed_ns;
	slack = cputime_part(elapsed, whole->free_ns - l->interval.free_ns,
			     whole->serving_ns - l->interval.serving_ns);
	if (whole->cpus_ns != l->interval.cpus_ns) {
		cpus_slack = cputime_part(elapsed, whole->room_ns - l->interval.room_ns,
					  whole->cpus_ns - l->interval.cpus_ns);
		slack = cpus_slack < slack ? cpus_slack : slack;
	}
	whole->slack_ns = l->interval.slack_ns + slack;
}

/* A slot may have the row of another service by now. false: what it contains does not cover the
 * whole time between two walks. */
static bool is_same_owner(struct load *l, u32 owner)
{
	bool same = l->owner == owner && cpus.elapsed_ns;

	l->owner = owner;
	return same;
}

__noinline int slack_show(u32 slot)
{
	struct request_row *whole = request_row(slot * shards);
	u32 *owner = bpf_map_lookup_elem(&slot_owners, &slot);
	u64 serving, busy, exchanges;
	struct cpu_room u = {};
	struct load *l;

	if (!whole || !owner)
		return 0;
	l = &whole->load;
	serving = __sync_lock_test_and_set(&l->serving_ns, 0);
	busy = __sync_lock_test_and_set(&l->busy_ns, 0);
	read_cpu_use(l, slot && *owner ? *owner - 1 : 0, &u);
	exchanges = exchanges_of(slot) - l->exchanges;
	l->exchanges += exchanges;
	if (!is_same_owner(l, slot ? *owner : 1)) {
		whole->capacity_known = 0;
		__builtin_memset(&l->window, 0, sizeof(l->window));
		begin_interval(whole);
		return 0;
	}
	if (l->walk != walk_number)
		return 0;
	if (cpus.are_known && (l->any_cpu || l->limits_walk))
		read_cpu_room(l, &u);
	add(&whole->cpu_ns, u.cpu_ns);
	add(&whole->cpu_exchanges, exchanges);
	show_capacity(whole, &u, exchanges);
	if (!serving)
		serving = cpus.elapsed_ns;
	show_slack(whole, &u, serving, busy < serving ? busy : serving);
	return 0;
}

static void slack_begin(void)
{
	walk_number++;
	cpus_measure();
}

static void slack_end(void)
{
	if (walk_skips_asleep())
		bpf_loop(numbers_given, count_asleep_thread, NULL, 0);
	for (u32 slot = 0; slot < SLOTS_END && slot < slots_max; slot++)
		slack_show(slot);
}

#endif
