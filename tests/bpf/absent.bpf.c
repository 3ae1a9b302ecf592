/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that has an alternative to what kernels may lack. It counts renames of
 * processes, by service. It checks for a type that no kernel has, which needs no capability.
 *
 * Hooks: task_rename in three hook sets. The first reads a member that no kernel has, the second is
 * the classic tracepoint, which needs tracefs and perf events, the third is tp_btf.
 */
#include "services/service.bpf.h"

struct absent_row {
	u64 renames METRIC("derive-renames");
};

MMAP_ARRAY(absent_services, struct absent_row, 1) SUBJECT("service");

struct task_struct___absent {
	u64 no_such_member;
} __attribute__((preserve_access_index));

struct absent_type {
	u64 member;
} __attribute__((preserve_access_index));

static void count(struct task_struct *task, u64 n)
{
	struct service_task *st = service_task(task->group_leader);
	struct absent_row *row;
	u32 at;

	if (!st || bpf_core_field_exists(struct absent_type, member))
		return;
	at = st->row;
	row = bpf_map_lookup_elem(&absent_services, &at);
	if (row)
		add(&row->renames, n);
}

SEC("tp_btf/task_rename")
HOOK_SET(1)
int BPF_PROG(absent_member, struct task_struct *task)
{
	count(task, ((struct task_struct___absent *)task)->no_such_member);
	return 0;
}

SEC("tracepoint/task/task_rename")
HOOK_SET(2)
int absent_classic(void *event)
{
	count(bpf_get_current_task_btf(), 1);
	return 0;
}

SEC("tp_btf/task_rename")
HOOK_SET(3)
int BPF_PROG(absent_not, struct task_struct *task)
{
	count(task, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
