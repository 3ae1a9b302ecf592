/* SPDX-License-Identifier: MIT */
/*
 * A probe with a mistake: an unknown word in a tag. It hooks nothing.
 */
#include "metric.bpf.h"

struct nonsense_row {
	u64 good METRIC("derive-good");
	u64 bad METRIC("derive-bad nonsense");
};

MMAP_ARRAY(nonsense, struct nonsense_row, 1) SUBJECT("probe");

SEC("raw_tp/task_rename")
int nonsense_count(void *event)
{
	u32 zero = 0;
	struct nonsense_row *row = bpf_map_lookup_elem(&nonsense, &zero);

	if (row)
		add(&row->bad, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
