/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * System calls by name: how many each service of a Service block makes, how long they take, and how
 * many fail; with Option "latency" also the distribution of their durations.
 *
 * Hooks: tp_btf sys_enter and sys_exit, on every system call of every process of the machine. That
 * is the cost, whether the call is counted or not, so the probe is off by default; a process of no
 * Service block costs one look-up. The delay probe reports in which calls the threads of all
 * services sleep, by samples, at no cost per call: see asleep.bpf.h.
 *
 * Limits: a call counts when it returns, so exit and exit_group never count, nor does a call that
 * began before the probe was attached. Calls of 32-bit programs, which are numbered differently,
 * are left out.
 */
#include "run_counter.bpf.h"
#include "kernel/syscall.bpf.h"
#include "refused.bpf.h"
#include "services/service.bpf.h"
#include "services/service_configured.bpf.h"
#include "span.bpf.h"

#define ERRNO_MAX 4095
#define HISTOGRAMS_MAX 1024 /* because rows are large */

const volatile bool option_latency;

struct syscall_row {
	u64 calls METRIC("total_operations-syscall rank") UNIT("calls")
		HELP("System calls: by name, when they return");
	u64 time_ns METRIC("total_time_in_ms-syscall scale=1/1000000") UNIT("milliseconds")
		HELP("Time in system calls: from call to return");
	u64 errors METRIC("errors-syscall") UNIT("calls") HELP("System calls that failed: by name");
};

struct syscall_key {
	u32 service LABEL("service");
	u32 number LABEL("syscall");
};

PERCPU_HASH(syscalls, struct syscall_key, struct syscall_row, 8192) SUBJECT("key");

struct syscall_latency_row {
	struct hist latency METRIC("latency-syscall scale=1/1000000000") UNIT("seconds")
		HELP("Latency of system calls: by name, from call to return");
};

SPARSE_HASH(latencies, struct syscall_key, struct syscall_latency_row, HISTOGRAMS_MAX)
OPTION("latency") SUBJECT("key");

static const struct syscall_latency_row no_latency;

TASK_SPANS(calls); /* span.what: number of the call in progress */

SEC("tp_btf/sys_enter")
RUN_COUNTER(0) int BPF_PROG(syscalls_begin, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span *call;

	run_counter_add(0);
	if (!service_configured(service_of(task)) || regs_32_bit(regs))
		return 0;
	call = or_refused(task_span_make(&calls, task));
	if (!call)
		return 0;
	call->what = call_name(number);
	span_begin(call);
	return 0;
}

/* The row of a call, created on first use; NULL: there is no room. */
static struct syscall_row *syscall_row(const struct syscall_key *key)
{
	struct syscall_row *row = bpf_map_lookup_elem(&syscalls, key), none = {};

	if (row)
		return row;
	/* If another CPU was faster, its row is used. */
	bpf_map_update_elem(&syscalls, key, &none, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&syscalls, key));
}

static void count_syscall_latency(const struct syscall_key *key, u64 taken_ns)
{
	struct syscall_latency_row *row = bpf_map_lookup_elem(&latencies, key);

	if (!row) {
		bpf_map_update_elem(&latencies, key, &no_latency, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&latencies, key));
	}
	if (row)
		hist_add(&row->latency, taken_ns);
}

/* The service is that when the call returns: for an execve, that of the new program, if it has
 * one. */
SEC("tp_btf/sys_exit")
RUN_COUNTER(1) int BPF_PROG(syscalls_end, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span *call = task_span(&calls, task);
	struct syscall_key key = {};
	struct syscall_row *row;
	u64 taken_ns;

	run_counter_add(1);
	if (!call)
		return 0;
	taken_ns = span_end(call);
	key.service = service_of(task);
	key.number = call->what;
	row = service_configured(key.service) ? syscall_row(&key) : NULL;
	if (!row)
		return 0;
	add(&row->calls, 1);
	add(&row->time_ns, taken_ns);
	add(&row->errors, result < 0 && result >= -ERRNO_MAX);
	if (option_latency)
		count_syscall_latency(&key, taken_ns);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("System calls: of services of Service blocks, by name") = "Dual MIT/GPL";
