/* SPDX-License-Identifier: MIT */
/*
 * A visitor of the shared walk that does not call the next visitor.
 */
#include "walk.bpf.h"

struct silent_row {
	u64 tasks METRIC("derive-tasks");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct silent_row);
} visits SEC(".maps") SUBJECT("probe");

SEC("iter/task")
WALK int hostile_silent(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct silent_row *row = bpf_map_lookup_elem(&visits, &zero);

	if (row && ctx->task)
		add(&row->tasks, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
