/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that calls what its licence does not permit.
 *
 * Hooks: task_rename.
 */
#include "metric.bpf.h"

struct proprietary_row {
	u64 letters METRIC("derive-letters");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct proprietary_row);
} proprietary SEC(".maps") SUBJECT("probe");

SEC("tp_btf/task_rename")
int BPF_PROG(proprietary_rename, struct task_struct *task)
{
	u32 zero = 0;
	struct proprietary_row *row = bpf_map_lookup_elem(&proprietary, &zero);
	char letter = 0;

	bpf_probe_read_kernel(&letter, sizeof(letter), task->comm);
	if (row)
		add(&row->letters, (u64)letter);
	return 0;
}

char LICENSE[] SEC("license") = "Proprietary";
