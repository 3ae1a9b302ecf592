/* SPDX-License-Identifier: MIT */
/*
 * The largest hash that may be a table, full of users that do not exist: each grows at each walk,
 * and those that grew most grow least at the next. It hooks nothing.
 */
#include "metric.bpf.h"

#define ROWS_MAX 16384

struct walk_row {
	u64 walks METRIC("derive-walks");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk_row);
} walked SEC(".maps") SUBJECT("probe");

struct user_key {
	u32 id LABEL("user");
};

struct full_row {
	u64 n METRIC("derive-full");
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, ROWS_MAX);
	__type(key, struct user_key);
	__type(value, struct full_row);
} full SEC(".maps") SUBJECT("key");

static long fill(u32 i, u64 *walks)
{
	struct user_key key = { .id = 1000000 + i };
	u64 *row = bpf_map_lookup_elem(&full, &key);
	struct full_row first = { .n = 1 };

	if (row)
		*row += *walks & 1 ? i : ROWS_MAX - i;
	else
		bpf_map_update_elem(&full, &key, &first, BPF_NOEXIST);
	return 0;
}

SEC("iter/task")
int full_walk(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct walk_row *row = bpf_map_lookup_elem(&walked, &zero);
	u64 walks;

	if (!row || ctx->task)
		return 0;
	walks = ++row->walks;
	bpf_loop(ROWS_MAX, fill, &walks, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
