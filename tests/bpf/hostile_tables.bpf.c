/* SPDX-License-Identifier: MIT */
/*
 * Tables that would use all memory or all time, one for each option. It hooks nothing.
 */
#include "metric.bpf.h"

#define ROWS_MAX 16384

struct walk_row {
	u64 walks METRIC("derive-walks");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk_row);
} walked SEC(".maps") SUBJECT("probe");

#define TABLE(name, map_type, entries, size)      \
	struct name##_row {                       \
		u64 n METRIC("derive-" #name);    \
		u8 bytes[size];                   \
	};                                        \
	struct {                                  \
		__uint(type, map_type);           \
		__uint(max_entries, entries);     \
		__type(key, struct user_key);     \
		__type(value, struct name##_row); \
	} name SEC(".maps") OPTION(#name) SUBJECT("key")

struct user_key {
	u32 id LABEL("user");
};

TABLE(entries, BPF_MAP_TYPE_PERCPU_HASH, 0xffffffff, 8);
TABLE(values, BPF_MAP_TYPE_PERCPU_HASH, ROWS_MAX, 32000);
TABLE(one_value, BPF_MAP_TYPE_HASH, 1, 1U << 28);

struct long_key {
	char text[4096] LABEL("string");
};

struct keys_row {
	u64 n METRIC("derive-keys");
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, struct long_key);
	__type(value, struct keys_row);
} keys SEC(".maps") OPTION("keys") SUBJECT("key");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
