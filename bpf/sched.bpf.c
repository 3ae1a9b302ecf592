/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The scheduler: how long the threads of each service wait for a CPU, how long they then run, and
 * how often they move from one CPU to another; the same for the machine, and the waits by CPU.
 *
 * The kernel measures this for each thread (/proc/PID/schedstat). When a thread leaves its CPU,
 * the growth of these counters since it last left one is one wait and one run. So neither a clock
 * nor a hook at wake-ups is needed, and each event costs one look-up.
 *
 * Hooks: tp_btf sched_switch, at every context switch of the machine, therefore off by default;
 * tp_btf task_newtask; the walk over tasks, which discovers the threads that ran before.
 *
 * Limits: a wait is counted when the run after it ends, so the wait of a thread that runs for long
 * is reported late. Waits after a wake-up and after a preemption count. A thread that is woken and
 * runs at once has waited for 0 ns by the kernel's clock, which is not read again in between: the
 * time that an idle CPU takes to wake up is not included. Idle CPUs do not count. A run is CPU
 * time: without the time of the hypervisor and, where the kernel separates it, of interrupts.
 */
#include "run_counter.bpf.h"
#include "services/service_slot.bpf.h"
#include "storage.bpf.h"
#include "walk.bpf.h"

#define NS "scale=1/1000000000"

const volatile bool option_cpus;

struct sched_row {
	struct hist wait METRIC("latency-runqueue " NS) UNIT("seconds")
		HELP("Run-queue latency: how long a thread waits for a CPU");
	struct hist run METRIC("duration-on_cpu " NS) UNIT("seconds")
		HELP("Time on a CPU: from the start of a thread's turn until it leaves the CPU")
			DEFAULT(off);
	u64 migrations METRIC("total_events-cpu_migrations") UNIT("migrations")
		HELP("CPU migrations: of threads, from one CPU to another");
};

MMAP_ARRAY(sched_services, struct sched_row, 1)
SUBJECT("service via=row_slots owners=slot_owners sharded");

PERCPU_ARRAY(sched_machine, u32, struct sched_row, 1) SUBJECT("probe");

struct cpu_row {
	struct hist wait METRIC("latency-runqueue " NS) UNIT("seconds")
		HELP("Run-queue latency on a CPU: of threads that were woken, or had to leave one");
};

enum wait {
	woken,
	preempted,
	WAITS,
};

PERCPU_ARRAY(sched_cpus, enum wait, struct cpu_row, WAITS) SUBJECT("key cpu") OPTION("cpus");

/* What the kernel counts for a thread. */
struct thread_runs {
	u64 count;
	u64 waited_ns;
	u64 ran_ns;
	u64 migrations;
};

/* What the rows already contain of a thread. */
struct runner {
	struct slot_cache cache;
	struct thread_runs counted;
	u32 known;       /* 0: not discovered yet */
	enum wait waits; /* what its wait since it left a CPU is counted as */
};

TASK_STORAGE(runners, struct runner);

static __always_inline void read_runs(const struct task_struct *task, struct thread_runs *runs)
{
	runs->waited_ns = task->sched_info.run_delay;
	runs->ran_ns = task->se.sum_exec_runtime;
	runs->migrations = task_migrations(task);
	runs->count = task->sched_info.pcount;
}

static __noinline void sched_assign(struct slot_cache *c, struct task_struct *task)
{
	u32 freed = slots_freed(&slot_owners);

	slot_cache_renew(c, task);
	slot_cache_set(c, c->watched ? slot_claim(c->row) : 0, freed);
}

static __always_inline struct sched_row *sched_service_row(struct runner *r,
							   struct task_struct *task)
{
	u32 index;

	if (slot_cache_is_old(&r->cache, &slot_owners))
		sched_assign(&r->cache, task);
	if (!r->cache.watched)
		return NULL;
	index = slot_index(r->cache.slot);
	return bpf_map_lookup_elem(&sched_services, &index);
}

/* Global: verified once, not again for each path that leads here. */
__noinline u32 ns_bucket(u64 ns)
{
	return hist_index(ns);
}

/* A run and the wait before it, with their buckets. */
struct run {
	u64 waited_ns, ran_ns;
	u64 migrations;
	u32 wait, run;
};

static __always_inline void sched_count(struct sched_row *row, const struct run *run)
{
	if (!row)
		return;
	hist_add_at(&row->wait, run->wait, run->waited_ns);
	hist_add_at(&row->run, run->run, run->ran_ns);
	if (run->migrations)
		add(&row->migrations, run->migrations);
}

static __always_inline void count_cpu(enum wait kind, const struct run *run)
{
	struct cpu_row *row = bpf_map_lookup_elem(&sched_cpus, &kind);

	if (row)
		hist_add_at(&row->wait, run->wait, run->waited_ns);
}

/* The kernel has brought the thread's counters up to date for this switch. If there was more than
 * one run, as after a pause of the probe, the length of each is unknown, and none is counted. */
static __always_inline void sched_count_run(struct runner *r, struct task_struct *task,
					    enum wait next)
{
	struct thread_runs now;
	struct run run;
	u32 zero = 0;

	read_runs(task, &now);
	if (now.count == r->counted.count + 1) {
		run.waited_ns = now.waited_ns - r->counted.waited_ns;
		run.ran_ns = now.ran_ns - r->counted.ran_ns;
		run.migrations = now.migrations - r->counted.migrations;
		run.wait = ns_bucket(run.waited_ns);
		run.run = ns_bucket(run.ran_ns);
		sched_count(sched_service_row(r, task), &run);
		sched_count(bpf_map_lookup_elem(&sched_machine, &zero), &run);
		if (option_cpus)
			count_cpu(r->waits, &run);
	}
	r->counted = now;
	r->waits = next;
}

/* Runs with the run queue's lock held: no storage may be created here. */
SEC("tp_btf/sched_switch")
RUN_COUNTER(0) int BPF_PROG(sched_switch_out, bool preempt)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct runner *r;

	run_counter_add(0);
	r = task->pid ? bpf_task_storage_get(&runners, task, NULL, 0) : NULL;
	if (r && r->known)
		sched_count_run(r, task, preempt || !task->__state ? preempted : woken);
	return 0;
}

/* The counters of a new thread are 0. */
SEC("tp_btf/task_newtask")
RUN_COUNTER(1) int BPF_PROG(sched_new, struct task_struct *task)
{
	struct runner *r;

	run_counter_add(1);
	r = or_refused(task_storage_make(&runners, task));
	if (r)
		r->known = 1;
	return 0;
}

/* What the thread has done until now does not count. If it gets a CPU while its counters are read,
 * the next walk discovers it. */
static __always_inline void discover_thread(struct task_struct *task)
{
	struct runner *r = bpf_task_storage_get(&runners, task, NULL, 0);
	u64 count = *(volatile unsigned long *)&task->sched_info.pcount;

	r = r ?: or_refused(task_storage_make(&runners, task));
	if (!r || r->known)
		return;
	read_runs(task, &r->counted);
	if (r->counted.count == count)
		__sync_lock_test_and_set(&r->known, 1);
}

SEC("iter/task")
WALK int sched_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !(task->flags & PF_EXITING))
		discover_thread(task);
	return walk_on(ctx);
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Scheduler: run-queue latency, time on CPUs and migrations") = "Dual MIT/GPL";
