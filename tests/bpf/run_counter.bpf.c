/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that is expensive: system calls of the services, and how long they took; with
 * hook set 1 also calls of getppid. A test turns the tags of the last two programs, which no test
 * loads, into mistakes.
 *
 * Hooks: tp_btf sys_enter and sys_exit; hook set 1: fexit of getppid.
 */
#include "run_counter.bpf.h"
#include "services/service.bpf.h"
#include "span.bpf.h"

struct call_row {
	u64 calls METRIC("total_operations");
	u64 recent METRIC("operations_per_second-recent rate");
	u64 time_ns METRIC("duration-call per=calls scale=1/1000000000");
	u64 longest_ns METRIC("duration-longest scale=1/1000000000");
	u64 getppids METRIC("total_operations-getppid");
};

MMAP_ARRAY(call_rows, struct call_row, SERVICE_FIRST) SUBJECT("service");

TASK_SPANS(run_counter_calls);

SEC("tp_btf/sys_enter")
RUN_COUNTER(0) int BPF_PROG(run_counter_begin, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span *call;

	run_counter_add(0);
	call = service_of(task) >= SERVICE_FIRST ? task_span_make(&run_counter_calls, task) : NULL;
	if (call)
		span_begin(call);
	return 0;
}

SEC("tp_btf/sys_exit")
RUN_COUNTER(1) int BPF_PROG(run_counter_end, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 service = service_of(task);
	struct call_row *row;
	struct span *call;
	u64 taken_ns;

	run_counter_add(1);
	call = task_span(&run_counter_calls, task);
	row = call ? bpf_map_lookup_elem(&call_rows, &service) : NULL;
	if (!row)
		return 0;
	taken_ns = span_end(call);
	add(&row->calls, 1);
	add(&row->recent, 1);
	add(&row->time_ns, taken_ns);
	if (taken_ns > row->longest_ns)
		row->longest_ns = taken_ns;
	return 0;
}

#ifdef __TARGET_ARCH_x86
#define GETPPID "__x64_sys_getppid"
#else
#define GETPPID "__arm64_sys_getppid"
#endif

SEC("fexit/" GETPPID)
HOOK_SET(1) RUN_COUNTER(2) int run_counter_getppid(void *ctx)
{
	u32 service = service_of(bpf_get_current_task_btf());
	struct call_row *row = bpf_map_lookup_elem(&call_rows, &service);

	run_counter_add(2);
	if (row)
		add(&row->getppids, 1);
	return 0;
}

/* For kernels without fexit. */
SEC("raw_tp/task_rename")
HOOK_SET(2) int run_counter_elsewhere(void *ctx)
{
	return 0;
}

#define BAD(text) __attribute__((btf_decl_tag("bad_counter:" text)))

SEC("iter/task")
OPTION("never")
BAD("3") int run_counter_no_event(struct bpf_iter__task *ctx)
{
	return 0;
}

SEC("raw_tp/task_rename")
OPTION("never")
RUN_COUNTER(15) BAD("7") int run_counter_twice(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off) = "Dual MIT/GPL";
