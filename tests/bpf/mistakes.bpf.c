/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests with a mistake behind each of its options, and without one of them none.
 *
 * Hooks: raw_tp task_rename.
 */
#include "metric.bpf.h"

struct row {
	u64 events METRIC("derive-mistakes");
};

#define TABLE(name, row_type, ...)                 \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, row_type);           \
	} name SEC(".maps") __VA_ARGS__

TABLE(fine, struct row, SUBJECT("service"));
TABLE(forgotten, struct row, OPTION("forgotten"));
TABLE(twice, struct row, SUBJECT("service") OPTION("twice"));
TABLE(unranked, struct row, SUBJECT("process") OPTION("unranked"));

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
