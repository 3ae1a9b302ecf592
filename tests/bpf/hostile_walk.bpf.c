/* SPDX-License-Identifier: MIT */
/*
 * An object whose iterator asks for the same task again, forever: the kernel then returns EAGAIN
 * from each read of it.
 */
#include "metric.bpf.h"

struct walk_row {
	u64 visits METRIC("derive-visits");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk_row);
} visited SEC(".maps") SUBJECT("probe");

SEC("iter/task")
int hostile_walk(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct walk_row *row = bpf_map_lookup_elem(&visited, &zero);

	if (row)
		add(&row->visits, 1);
	return ctx->task ? 1 : 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
