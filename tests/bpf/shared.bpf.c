/* SPDX-License-Identifier: MIT */
/*
 * A probe with a mistake: two tables assign slots by the same pair of maps. It hooks nothing.
 */
#include "metric.bpf.h"

struct shared_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct shared_row);
} shared SEC(".maps") SUBJECT("service via=slots owners=slot_owners"), sharing
	SEC(".maps") SUBJECT("service via=slots owners=slot_owners");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} slots SEC(".maps"), slot_owners SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
