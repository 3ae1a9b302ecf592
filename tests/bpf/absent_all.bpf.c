/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that no kernel can run: each hook set needs something that does not exist.
 *
 * Hooks: one for each way to attach, all under names that kernels do not have.
 */
#include "metric.bpf.h"

struct absent_row {
	u64 events METRIC("derive-events");
};

MMAP_ARRAY(absent, struct absent_row, 1) SUBJECT("probe");

struct task_struct___absent {
	u64 no_such_member;
} __attribute__((preserve_access_index));

static int count(u64 n)
{
	u32 zero = 0;
	struct absent_row *row = bpf_map_lookup_elem(&absent, &zero);

	if (row)
		add(&row->events, n);
	return 0;
}

SEC("tp_btf/no_such_hook")
HOOK_SET(1)
int BPF_PROG(absent_tp_btf, struct task_struct *task)
{
	return count(1);
}

SEC("raw_tp/no_such_hook")
HOOK_SET(2)
int absent_raw_tp(void *event)
{
	return count(1);
}

SEC("tracepoint/task/no_such_hook")
HOOK_SET(3)
int absent_tracepoint(void *event)
{
	return count(1);
}

SEC("fexit/no_such_hook")
HOOK_SET(4)
int absent_fexit(void *event)
{
	return count(1);
}

SEC("kprobe/no_such_hook")
HOOK_SET(5)
int absent_kprobe(void *event)
{
	return count(1);
}

SEC("iter/no_such_hook")
HOOK_SET(6)
int absent_iter(void *event)
{
	return count(1);
}

SEC("tp_btf/task_rename")
HOOK_SET(7)
int BPF_PROG(absent_member, struct task_struct *task)
{
	return count(((struct task_struct___absent *)task)->no_such_member);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
