/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests whose section names a function of a file, which libbpf would find by itself. A
 * test replaces the path by another of the same length.
 *
 * Hooks: uprobe.
 */
#include "metric.bpf.h"

struct row {
	u64 calls METRIC("derive-section_calls");
};

MMAP_ARRAY(attach_section, struct row, 1) SUBJECT("probe");

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
