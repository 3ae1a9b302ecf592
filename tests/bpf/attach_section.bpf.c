/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests whose section names a function of a file, as libbpf would find it by itself. A
 * test puts another path there, as long.
 *
 * Hooks: uprobe.
 */
#include "metric.bpf.h"

struct row {
	u64 calls METRIC("derive-section_calls");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct row);
} attach_section SEC(".maps") SUBJECT("probe");

/* 80 bytes. */
SEC("uprobe"
    "/////////////////////////////////////////////////////////////////////////////path"
    ":called")
int attach_section_call(void *ctx)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&attach_section, &zero);

	if (row)
		add(&row->calls, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
