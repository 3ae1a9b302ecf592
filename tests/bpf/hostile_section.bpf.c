/* SPDX-License-Identifier: MIT */
/*
 * An object whose section of variables is the map that assigns rows: libbpf keeps a copy of the
 * variables, and takes it for as large as the map when it frees it. It hooks nothing.
 */
#include "metric.bpf.h"

u32 variable;

struct section_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct section_row);
} rows SEC(".maps") SUBJECT("service via=.bss owners=slot_owners");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} slot_owners SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
