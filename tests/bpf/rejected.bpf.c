/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that the verifier rejects: it reads memory at any address.
 *
 * Hooks: task_rename.
 */
#include "metric.bpf.h"

struct rejected_row {
	u64 events METRIC("derive-events");
};

MMAP_ARRAY(rejected, struct rejected_row, 1) SUBJECT("probe");

SEC("tp_btf/task_rename")
int BPF_PROG(rejected_rename, struct task_struct *task)
{
	u32 zero = 0;
	struct rejected_row *row = bpf_map_lookup_elem(&rejected, &zero);

	if (row)
		add(&row->events, *(volatile u64 *)row->events);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
