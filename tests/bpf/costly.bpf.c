/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests whose first hook set does not load, so that it is available only with an option
 * that permits an expensive one. Another option has a table and a variable.
 *
 * Hooks, hook set 2: raw_tp task_rename.
 */
#include "metric.bpf.h"

const volatile bool option_extra = false;
const volatile bool watch_other = true;

struct costly_row {
	u64 renames METRIC("derive-renames");
	u32 known_other METRIC("gauge-known_other");
};

MMAP_ARRAY(costly, struct costly_row, 1) SUBJECT("probe");

struct extra_row {
	u64 renames METRIC("derive-extra_renames");
};

MMAP_ARRAY(costly_extra, struct extra_row, 3) SUBJECT("probe") OPTION("extra");

SEC("tp_btf/no_such_tracepoint")
HOOK_SET(1)
int BPF_PROG(costly_refused, struct task_struct *task)
{
	return 0;
}

SEC("raw_tp/task_rename")
HOOK_SET(2)
OPTION("costly")
int costly_rename(void *event)
{
	u32 zero = 0, last = 2;
	struct costly_row *row = bpf_map_lookup_elem(&costly, &zero);
	struct extra_row *extra = bpf_map_lookup_elem(&costly_extra, &last);

	if (row) {
		add(&row->renames, 1);
		row->known_other = watch_other;
	}
	if (option_extra && extra)
		add(&extra->renames, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
