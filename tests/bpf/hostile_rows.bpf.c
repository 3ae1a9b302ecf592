/* SPDX-License-Identifier: MIT */
/*
 * An object with a table of a million rows, each of which would be a subject with a series. It
 * hooks nothing.
 */
#include "metric.bpf.h"

struct rows_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1000000);
	__type(key, u32);
	__type(value, struct rows_row);
} rows SEC(".maps") SUBJECT("probe");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
