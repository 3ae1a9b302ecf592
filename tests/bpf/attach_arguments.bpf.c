/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that reads the arguments of a marker: libbpf's usdt.bpf.h adds a map for them,
 * which libbpf fills when it attaches.
 *
 * Hooks: usdt.
 */
#include "metric.bpf.h"

struct row {
	u64 markers METRIC("derive-argument_markers");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct row);
} attach_arguments SEC(".maps") SUBJECT("probe");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, u64);
} __bpf_usdt_specs SEC(".maps");

SEC("usdt")
int attach_arguments_marker(void *ctx)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&attach_arguments, &zero);

	if (row && bpf_map_lookup_elem(&__bpf_usdt_specs, &zero))
		add(&row->markers, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
