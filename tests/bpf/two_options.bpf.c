/* SPDX-License-Identifier: MIT */
/*
 * For tests of options: in hook set 1 the first program needs both and the second one of them; in
 * hook set 2 the only program needs both.
 *
 * Hooks: raw_tp task_rename.
 */
#include "metric.bpf.h"

struct renames_row {
	u64 renames METRIC("derive-renames");
};

MMAP_ARRAY(renames, struct renames_row, 1) SUBJECT("probe");

static __always_inline int count(void)
{
	u32 zero = 0;
	struct renames_row *row = bpf_map_lookup_elem(&renames, &zero);

	if (row)
		add(&row->renames, 1);
	return 0;
}

SEC("raw_tp/task_rename")
HOOK_SET(1)
OPTION("more")
OPTION("costly")
int renames_all(void *event)
{
	return count();
}

SEC("raw_tp/task_rename")
HOOK_SET(1)
OPTION("costly")
int renames_some(void *event)
{
	return count();
}

SEC("raw_tp/task_rename")
HOOK_SET(2)
OPTION("more")
OPTION("costly")
int renames_other(void *event)
{
	return count();
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
