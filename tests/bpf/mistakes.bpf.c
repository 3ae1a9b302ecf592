/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests with a mistake in each of its options, and none without an option.
 *
 * Hooks: raw_tp task_rename.
 */
#include "metric.bpf.h"

struct row {
	u64 events METRIC("derive-mistakes");
};

MMAP_ARRAY(fine, struct row, 1) SUBJECT("service");
MMAP_ARRAY(forgotten, struct row, 1) OPTION("forgotten");
MMAP_ARRAY(twice, struct row, 1) SUBJECT("service") OPTION("twice");
MMAP_ARRAY(unranked, struct row, 1) SUBJECT("process") OPTION("unranked");
HASH(each, u32, struct row, 1) SUBJECT("key label=number") BY_CPU("cpus") OPTION("each");

SEC("raw_tp/task_rename")
int mistakes_count(void *event)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&fine, &zero);

	if (row)
		add(&row->events, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
