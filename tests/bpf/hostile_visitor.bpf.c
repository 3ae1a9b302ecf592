/* SPDX-License-Identifier: MIT */
/*
 * A visitor of the shared walk that in its fifth walk asks for the same task again, forever.
 */
#include "walk.bpf.h"

#define GOOD_WALKS 4

struct visitor_row {
	u64 walks METRIC("derive-walks");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct visitor_row);
} visits SEC(".maps") SUBJECT("probe");

SEC("iter/task")
WALK int hostile_visitor(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct visitor_row *row = bpf_map_lookup_elem(&visits, &zero);

	if (row && ctx->meta->seq_num == 0)
		add(&row->walks, 1);
	if (row && ctx->task && row->walks > GOOD_WALKS)
		return 1;
	return walk_on(ctx);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
