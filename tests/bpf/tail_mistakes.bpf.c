/* SPDX-License-Identifier: MIT */
/*
 * An object for tests whose rows have the word tail, in maps that permit it and in others. No test
 * loads it.
 */
#include "metric.bpf.h"

struct row {
	struct hist time METRIC("latency-tail tail=most");
	u64 most;
};

MMAP_ARRAY(tail_fine, struct row, 1) SUBJECT("probe");
PERCPU_ARRAY(tail_percpu, u32, struct row, 1) SUBJECT("probe");
HASH(tail_hash, u32, struct row, 1) SUBJECT("key label=signal");

SEC("raw_tp/task_rename")
int tail_count(void *event)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&tail_fine, &zero);

	if (row)
		hist_add(&row->time, row->most);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
