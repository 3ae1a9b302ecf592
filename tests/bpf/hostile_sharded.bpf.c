/* SPDX-License-Identifier: MIT */
/*
 * An object with a table whose number of entries, with two shards a row, does not fit in 32 bits.
 * It hooks nothing.
 */
#include "metric.bpf.h"

struct sharded_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 0x80000001);
	__type(key, u32);
	__type(value, struct sharded_row);
} sharded SEC(".maps") SUBJECT("probe sharded");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
