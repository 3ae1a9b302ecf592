/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Polls: how long the threads of a service wait for events, in epoll_wait, epoll_pwait,
 * epoll_pwait2, poll, ppoll, select, pselect6 and io_uring_enter, and what share of their time that
 * is. This is the saturation slack of M. Rezvani, A. Jahanshahi and D. Wong, "Characterizing
 * In-Kernel Observability of Latency-Sensitive Request-level Metrics with eBPF", ISPASS 2024,
 * section IV, which uses the duration of polls; a share needs no calibration.
 *
 * Hooks, hook set 1: fentry and fexit of do_epoll_wait, do_sys_poll and core_sys_select, which
 * these calls share, tp_btf io_uring_cqring_wait and fexit of io_uring_enter. Hook set 2: the same
 * without io_uring, for kernels that lack it. Hook sets 3 and 4, with Option "syscalls": the
 * tracepoints of these system calls, with and without io_uring; while one of them is on, every
 * system call of the machine takes the slow path. All: the walk over tasks; tp_btf
 * sched_process_exit. A kretprobe is no option: at most max(10, 2 * CPUs) threads can be inside its
 * function, and threads spend most of their time in these.
 *
 * Limits: a thread is known from its first poll on, or from the first reading if it is in a poll
 * then, other than io_uring_enter. io_uring_enter counts if it has to wait. At most 8192 threads
 * are known at a time. Of 32-bit programs only epoll and poll count, in hook sets 1 and 2.
 */
#include "attached.bpf.h"
#include "run_counter.bpf.h"
#include "kernel/syscall.bpf.h"
#include "number.bpf.h"
#include "services/service_slot.bpf.h"
#include "walk.bpf.h"

#define NS "scale=1/1000000000"

struct poll_row {
	struct moments poll METRIC("gauge-poll " NS) UNIT("seconds")
		HELP("Time of a poll: from call to return") DEFAULT(off);
	u64 slack_ns METRIC("percent-poll_idle per=polling_ns scale=100/1") UNIT("percent")
		HELP("Time in polls: share of the polling threads' time");
	u64 polling_ns;
	u64 apart; /* fills the cache line */
};

MMAP_ARRAY(polls, struct poll_row, 1) SUBJECT("service via=row_slots owners=slot_owners sharded");

/* State of a thread that has polled. */
struct poller {
	struct slot_cache cache;
	bool older;   /* the poll in progress began before the probe was attached */
	u32 service;  /* of the thread, in the last walk that visited it */
	u32 walk;     /* number of that walk */
	u64 polled;   /* `readings` at the last poll, plus one; 0: never */
	u64 deferred; /* likewise, of deferred_ns */
	u64 deferred_ns; /* time before seen_ns, which counts if a poll begins before the next reading */
	u64 began_ns; /* of the poll in progress, 0: none */
	u64 seen_ns;  /* time up to here is in the rows or deferred */
};

/* Indexed by thread number - 1, see number.bpf.h. */
ARRAY(pollers, struct poller, THREADS_MAX);

u64 readings;

static u32 walk_number;
static bool all_discovered; /* the first walk is complete */

static __always_inline struct poll_row *poll_row_at(u32 index)
{
	return bpf_map_lookup_elem(&polls, &index);
}

static __always_inline struct poller *poller_at(u32 number)
{
	u32 index = number - 1;

	return bpf_map_lookup_elem(&pollers, &index);
}

static __always_inline struct poller *poller_of(struct task_struct *task)
{
	u32 *number = thread_number(task);

	return number ? poller_at(*number) : NULL;
}

static __always_inline struct poller *poller_make(struct task_struct *task)
{
	return poller_of(task) ?: or_refused(poller_at(thread_number_claim(task)));
}

static __always_inline void poller_end(struct task_struct *task)
{
	u32 *number = thread_number(task);
	struct poller *p = number ? poller_at(*number) : NULL;

	if (!p)
		return;
	__builtin_memset(p, 0, sizeof(*p));
	thread_number_give(number);
}

/* Adds the time of a thread up to now to a row. The thread and a reading may do this at once: the
 * exchange of seen_ns gives each of them a disjoint part. */
static __always_inline void settle_poller(struct poller *p, struct poll_row *row, u64 now)
{
	u64 began = *(volatile u64 *)&p->began_ns;
	u64 seen = __sync_lock_test_and_set(&p->seen_ns, now);

	if (!seen || seen >= now)
		return;
	add(&row->polling_ns, now - seen);
	if (began && began < now)
		add(&row->slack_ns, now - (began > seen ? began : seen));
}

static __always_inline void settle_deferred(struct poller *p, struct poll_row *row)
{
	u64 ns = p->deferred_ns ? __sync_lock_test_and_set(&p->deferred_ns, 0) : 0;

	if (p->deferred == readings + 1)
		add(&row->polling_ns, ns);
}

/* There may be several walks between two readings, and a thread that polls between two readings
 * counts as polling all the time. */
static void defer_poller(struct poller *p, u64 now)
{
	u64 seen = __sync_lock_test_and_set(&p->seen_ns, now);

	if (p->deferred != readings + 1) {
		p->deferred = readings + 1;
		p->deferred_ns = 0;
	}
	if (seen && seen < now)
		__sync_fetch_and_add(&p->deferred_ns, now - seen);
}

static __always_inline int poll_begin(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct poller *p = poller_make(task);
	u64 now;

	if (!p || !slot_cache_watched(&p->cache, task))
		return 0;
	now = bpf_ktime_get_ns();
	if (!p->seen_ns) {
		p->service = p->cache.row;
		p->seen_ns = now;
	}
	p->polled = readings + 1;
	p->older = false;
	p->began_ns = now;
	return 0;
}

/* began_ns is cleared last: a reading before that finds the time settled. */
static __always_inline int poll_end(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct poller *p = poller_of(task);
	struct poll_row *row;
	u64 now;

	if (!p || !p->began_ns)
		return 0;
	row = slot_cache_watched(&p->cache, task) ? poll_row_at(slot_index(p->cache.slot)) : NULL;
	if (row) {
		now = bpf_ktime_get_ns();
		if (!p->older && is_since_attached(p->began_ns))
			moments_add(&row->poll, now - p->began_ns);
		settle_poller(p, row, now);
		settle_deferred(p, row);
	}
	*(volatile u64 *)&p->began_ns = 0;
	return 0;
}

/* counter: number of the program's run counter, unique within its hook set. */
#define HOOK(section, set, counter, name, action)                           \
	SEC(section) HOOK_SET(set) RUN_COUNTER(counter) int name(void *ctx) \
	{                                                                   \
		run_counter_add(counter);                                   \
		return action();                                            \
	}

#define HOOK_FUNCTION(set, entry_counter, exit_counter, function)                                \
	HOOK("fentry/" #function, set, entry_counter, poll_begin_##function##_##set, poll_begin) \
	HOOK("fexit/" #function, set, exit_counter, poll_end_##function##_##set, poll_end)

#define HOOK_FUNCTIONS(set)                     \
	HOOK_FUNCTION(set, 0, 1, do_epoll_wait) \
	HOOK_FUNCTION(set, 2, 3, do_sys_poll)   \
	HOOK_FUNCTION(set, 4, 5, core_sys_select)

HOOK_FUNCTIONS(1)
HOOK("tp_btf/io_uring_cqring_wait", 1, 6, poll_begin_io_uring_1, poll_begin)
HOOK("fexit/" SYSCALL_FUNCTION(io_uring_enter), 1, 7, poll_end_io_uring_1, poll_end)

HOOK_FUNCTIONS(2)

#define HOOK_OPTION(section, set, counter, name, action) \
	OPTION("syscalls") HOOK(section, set, counter, name, action)

#define HOOK_CALL(set, entry_counter, exit_counter, call)                       \
	HOOK_OPTION("tracepoint/syscalls/sys_enter_" #call, set, entry_counter, \
		    poll_begin_##call##_##set, poll_begin)                      \
	HOOK_OPTION("tracepoint/syscalls/sys_exit_" #call, set, exit_counter,   \
		    poll_end_##call##_##set, poll_end)

/* Newer architectures have only the calls that take a signal mask. */
#ifdef __TARGET_ARCH_x86
#define HOOK_OLD_CALLS(set)              \
	HOOK_CALL(set, 0, 1, epoll_wait) \
	HOOK_CALL(set, 2, 3, poll)       \
	HOOK_CALL(set, 4, 5, select)
#else
#define HOOK_OLD_CALLS(set)
#endif

#define HOOK_CALLS(set)                    \
	HOOK_OLD_CALLS(set)                \
	HOOK_CALL(set, 6, 7, epoll_pwait)  \
	HOOK_CALL(set, 8, 9, epoll_pwait2) \
	HOOK_CALL(set, 10, 11, ppoll)      \
	HOOK_CALL(set, 12, 13, pselect6)

HOOK_CALLS(3)
HOOK_OPTION("tp_btf/io_uring_cqring_wait", 3, 14, poll_begin_io_uring_3, poll_begin)
HOOK_OPTION("tracepoint/syscalls/sys_exit_io_uring_enter", 3, 15, poll_end_io_uring_3, poll_end)

HOOK_CALLS(4)

/* Is a thread that does not run in one of these system calls? 32-bit programs number system calls
 * differently. */
static bool in_poll(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (task->on_cpu || task->flags & PF_KTHREAD)
		return false;
	if (regs_32_bit(regs))
		return false;
	switch (call_kind(call_number(regs))) {
	case CALL_EPOLL:
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_SELECT:
		return true;
	default:
		return false;
	}
}

/* Adds a thread that has been in a poll since before the probe was attached: its time counts from
 * now on, that poll does not. */
static void discover_poller(struct task_struct *task)
{
	struct poller *p;
	u64 now;

	if (!in_poll(task) || !service_watched(service_of(task)))
		return;
	p = poller_make(task);
	now = bpf_ktime_get_ns();
	if (!p)
		return;
	p->service = service_of(task);
	p->walk = walk_number;
	if (!__sync_val_compare_and_swap(&p->seen_ns, 0, now)) {
		p->older = true;
		p->began_ns = now;
	}
	if (task->flags & PF_EXITING)
		poller_end(task);
}

/* Ends such a poll: its function was called before the hook was attached, so its exit is not
 * seen. */
static void clear_older(struct task_struct *task, struct poller *p)
{
	if (!p->older || in_poll(task))
		return;
	p->older = false;
	p->began_ns = 0;
}

/* Adds the time of a thread to the rows if it is one that polls. A thread that polled once and now
 * waits for something else is not; a thread that runs on without a poll is. */
static void settle_if_polls(struct poller *p, bool works)
{
	u64 now = bpf_ktime_get_ns();
	bool polls = p->polled == readings + 1 || p->began_ns, counts = polls || works;
	struct poll_row *row = NULL;

	if (counts && service_watched(p->service))
		row = poll_row_at(slot_claim(p->service) * shards);
	if (row)
		settle_poller(p, row, now);
	else
		defer_poller(p, now);
	if (row && polls)
		settle_deferred(p, row);
}

static void visit_poller(struct task_struct *task)
{
	u32 *number = thread_number(task);
	struct poller *p = number ? poller_at(*number) : NULL;

	if (!p && !all_discovered)
		discover_poller(task);
	if (!p || !p->seen_ns)
		return;
	clear_older(task, p);
	p->service = service_of(task);
	p->walk = walk_number;
	settle_if_polls(p, task->on_cpu || task_queued(task));
	if (!*(volatile u32 *)number)
		p->seen_ns = 0; /* the thread has just exited */
}

/* Threads that the walk did not visit have slept. */
static long settle_asleep(u32 i, void *unused)
{
	struct poller *p = poller_at(i + 1);

	if (p && p->seen_ns && p->walk != walk_number)
		settle_if_polls(p, false);
	return 0;
}

static void end_poll_walk(void)
{
	all_discovered = true;
	if (walk_skips_asleep())
		bpf_loop(numbers_given, settle_asleep, NULL, 0);
}

SEC("iter/task")
WALK int poll_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (ctx->meta->seq_num == 0)
		walk_number++;
	if (!task)
		end_poll_walk();
	else if (!(task->flags & PF_EXITING))
		visit_poller(task);
	return walk_on(ctx);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(poll_exit, struct task_struct *task)
{
	poller_end(task);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Polls: how long the threads of services wait in epoll, poll, select or io_uring") =
		"Dual MIT/GPL";
