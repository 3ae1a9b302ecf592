/* SPDX-License-Identifier: MIT */
/*
 * An object with a small table, and in addition a hash that would use all memory of the machine. It
 * hooks nothing.
 */
#include "metric.bpf.h"

struct hash_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hash_row);
} hash SEC(".maps") SUBJECT("probe");

struct hashed {
	u8 bytes[1U << 31];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 0x80000000);
	__type(key, u32);
	__type(value, struct hashed);
} hashed SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
