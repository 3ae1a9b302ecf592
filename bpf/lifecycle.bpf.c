/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Lives of processes: how many each service forks, which programs it executes, how and after how
 * long its processes end, and which signals it sends and receives.
 *
 * Hooks: tp_btf sched_process_fork, sched_process_exec, sched_process_exit and signal_generate.
 * They run after the programs of the service object, so an exec counts for the service that the
 * process belongs to after it.
 *
 * Limits: an execve that fails is not seen. Kernel threads count neither at their start nor at
 * their exit, and threads that the kernel creates for io_uring are not seen. Processes killed for
 * lack of memory are among those ended by a signal; the probe oom reports them separately.
 */
#include "run_counter.bpf.h"
#include "services/service_slot.bpf.h"
#include "storage.bpf.h"

#define SIGNAL_MASK 0x7f /* of an exit status; the exit code is in the byte above */

/* Result of trace_signal_generate(). */
#define SIGNAL_QUEUED 0
#define SIGNAL_QUEUED_WITHOUT_INFO 4

/* si_code of signals that processes send. */
#define SI_USER 0
#define SI_QUEUE (-1)
#define SI_TKILL (-6)
#define SPECIAL_INFO_MAX 1 /* up to here no address, but a constant of the kernel */

const volatile bool option_lifetimes;
const volatile bool option_signals;
const volatile u64 short_lived_ns = 1000000000;

struct lifecycle_row {
	u64 forks METRIC("fork_rate") UNIT("processes")
		HELP("Forks: processes created by the service");
	u64 threads METRIC("total_events-threads_created") UNIT("threads")
		HELP("Threads created: in addition to the first of each process") DEFAULT(off);
	u64 execs METRIC("total_events-execs") UNIT("programs")
		HELP("Programs executed: counted for the service after the exec");
	/* Stands before `exits`, which is incremented first: the share never exceeds 100 %. */
	u64 short_lived METRIC("percent-short_lived per=exits scale=100/1") UNIT("percent") HELP(
		"Short-lived: share of the ended processes that lived for less than short_lived_ns");
	u64 exits METRIC("total_events-exits") UNIT("processes")
		HELP("Processes that ended: by exit or by a signal");
	u64 failed METRIC("total_events-exits_failed") UNIT("processes")
		HELP("Processes that failed: exited with a code other than 0");
	u64 killed METRIC("total_events-exits_by_signal") UNIT("processes")
		HELP("Processes ended by a signal: killed or crashed");
	u64 sent METRIC("total_events-signals_sent") UNIT("signals")
		HELP("Signals sent: by kill and similar calls, to any process");
	u64 received METRIC("total_events-signals_received") UNIT("signals")
		HELP("Signals received: from processes and the kernel, ignored ones left out");
};

MMAP_ARRAY(lifecycle_services, struct lifecycle_row, SERVICE_FIRST) SUBJECT("service");

PERCPU_ARRAY(lifecycle_machine, u32, struct lifecycle_row, 1) SUBJECT("probe");

struct lifetime_row {
	struct hist lifetime METRIC("duration-lifetime scale=1/1000000000") UNIT("seconds")
		HELP("Lifetime of a process: from its fork to the end of its last thread");
};

MMAP_ARRAY(lifetime_services, struct lifetime_row, 1)
SUBJECT("service via=row_slots owners=slot_owners") OPTION("lifetimes");

MMAP_ARRAY(lifetime_machine, struct lifetime_row, 1) SUBJECT("probe") OPTION("lifetimes");

struct signal_key {
	u32 service LABEL("service");
	u32 number LABEL("signal");
};

struct signal_row {
	u64 received METRIC("total_events-signal_received rank") UNIT("signals")
		HELP("Signals received: by name");
	u64 sent METRIC("total_events-signal_sent") UNIT("signals") HELP("Signals sent: by name");
	u64 killed METRIC("total_events-exit_by_signal") UNIT("processes")
		HELP("Processes ended by a signal: by name of the signal");
};

HASH(signals, struct signal_key, struct signal_row, 4096)
SUBJECT("key") OPTION("signals");

/* In the leader: not 0 once the exit of its process has been counted. */
TASK_STORAGE(ends, u32);

/* --- rows --- */

static struct lifecycle_row *lifecycle_machine_row(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lifecycle_machine, &zero);
}

static struct lifecycle_row *lifecycle_service_row(u32 service)
{
	return bpf_map_lookup_elem(&lifecycle_services, &service);
}

/* The row of a signal, created on first use; NULL: no room. */
static struct signal_row *signal_row(u32 service, u32 number)
{
	struct signal_key key = { .service = service, .number = number };
	struct signal_row *row, none = {};

	if (!option_signals)
		return NULL;
	row = bpf_map_lookup_elem(&signals, &key);
	if (row)
		return row;
	/* If another CPU was faster, its row is used. */
	bpf_map_update_elem(&signals, &key, &none, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&signals, &key));
}

/* --- start --- */

static void count_new(struct lifecycle_row *row, bool is_process)
{
	if (row)
		add(is_process ? &row->forks : &row->threads, 1);
}

/* Counts for the service of the parent. */
SEC("tp_btf/sched_process_fork")
RUN_COUNTER(0) int BPF_PROG(lifecycle_fork, struct task_struct *parent, struct task_struct *child)
{
	bool is_process = child->pid == child->tgid;

	run_counter_add(0);
	if (child->flags & PF_KTHREAD)
		return 0;
	count_new(lifecycle_service_row(service_of(parent)), is_process);
	count_new(lifecycle_machine_row(), is_process);
	return 0;
}

static void count_exec(struct lifecycle_row *row)
{
	if (row)
		add(&row->execs, 1);
}

SEC("tp_btf/sched_process_exec")
RUN_COUNTER(1) int BPF_PROG(lifecycle_exec, struct task_struct *task)
{
	run_counter_add(1);
	count_exec(lifecycle_service_row(service_of(task)));
	count_exec(lifecycle_machine_row());
	return 0;
}

/* --- exit --- */

/* Is this the last thread of the process? If several threads exit at once, each may find no thread alive:
 * the kernel decrements the count for all of them first, and does not say which was the last. */
static bool is_end(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	u32 *ended;

	if (task->signal->live.counter)
		return false;
	if (task->signal->nr_threads > 1)
		ended = or_refused(task_storage_make(&ends, leader));
	else
		ended = bpf_task_storage_get(&ends, leader, NULL, 0);
	return !ended || !__sync_lock_test_and_set(ended, 1);
}

/* The status as wait(2) returns it to the parent. */
static u32 exit_status(const struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;

	return signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code
						 : task->group_leader->exit_code;
}

static void count_end(struct lifecycle_row *row, u32 status, u64 lived_ns)
{
	if (!row)
		return;
	add(&row->exits, 1);
	if (lived_ns < short_lived_ns)
		add(&row->short_lived, 1);
	if (status & SIGNAL_MASK)
		add(&row->killed, 1);
	else if (status)
		add(&row->failed, 1);
}

static void count_signal_end(u32 service, u32 signal)
{
	struct signal_row *row = signal ? signal_row(service, signal) : NULL;

	if (row)
		add(&row->killed, 1);
}

static void count_lifetime(u32 service, u64 lived_ns)
{
	u32 zero = 0, slot = slot_claim(service);
	struct lifetime_row *row = bpf_map_lookup_elem(&lifetime_machine, &zero);

	if (row)
		hist_add(&row->lifetime, lived_ns);
	row = bpf_map_lookup_elem(&lifetime_services, &slot);
	if (row)
		hist_add(&row->lifetime, lived_ns);
}

SEC("tp_btf/sched_process_exit")
RUN_COUNTER(2) int BPF_PROG(lifecycle_exit, struct task_struct *task)
{
	u32 service, status;
	u64 lived_ns;

	run_counter_add(2);
	if (task->flags & PF_KTHREAD || !is_end(task))
		return 0;
	service = service_of(task);
	status = exit_status(task);
	lived_ns = bpf_ktime_get_boot_ns() - task->group_leader->start_boottime;
	count_end(lifecycle_service_row(service), status, lived_ns);
	count_end(lifecycle_machine_row(), status, lived_ns);
	count_signal_end(service, status & SIGNAL_MASK);
	if (option_lifetimes)
		count_lifetime(service, lived_ns);
	return 0;
}

/* --- signals --- */

/* Sent by kill(2), tgkill(2), sigqueue(3) and the like: then the current task is the sender. */
static bool is_sent(u64 info)
{
	const struct kernel_siginfo *at = (void *)info;
	int code;

	if (info <= SPECIAL_INFO_MAX)
		return false;
	code = BPF_CORE_READ(at, si_code);
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

static void count_sent(u32 service, u32 number)
{
	struct lifecycle_row *row = lifecycle_service_row(service),
			     *machine = lifecycle_machine_row();
	struct signal_row *named = signal_row(service, number);

	if (row)
		add(&row->sent, 1);
	if (machine)
		add(&machine->sent, 1);
	if (named)
		add(&named->sent, 1);
}

static void count_received(u32 service, u32 number)
{
	struct lifecycle_row *row = lifecycle_service_row(service),
			     *machine = lifecycle_machine_row();
	struct signal_row *named = signal_row(service, number);

	if (row)
		add(&row->received, 1);
	if (machine)
		add(&machine->received, 1);
	if (named)
		add(&named->received, 1);
}

SEC("tp_btf/signal_generate")
RUN_COUNTER(3)
int BPF_PROG(lifecycle_signal, int number, u64 info, struct task_struct *task, int group,
	     int result)
{
	run_counter_add(3);
	if (is_sent(info))
		count_sent(service_of(bpf_get_current_task_btf()), number);
	if (result == SIGNAL_QUEUED || result == SIGNAL_QUEUED_WITHOUT_INFO)
		count_received(service_of(task), number);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Process lifecycle: forks, programs, exits and signals") = "Dual MIT/GPL";
