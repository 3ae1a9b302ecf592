/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that counts what its Probe block attaches it to, many functions at once.
 *
 * Hooks: uprobe, uretprobe, kprobe, kprobe.multi and kretprobe.multi, all by Attach.
 */
#include "metric.bpf.h"

struct row {
	u64 calls METRIC("derive-calls");
	u64 returns METRIC("derive-returns");
	u64 single METRIC("derive-single");
	u64 kernel_calls METRIC("derive-kernel_calls");
	u64 kernel_returns METRIC("derive-kernel_returns");
};

MMAP_ARRAY(function_links, struct row, 1) SUBJECT("probe");

const volatile u32 only = 0; /* thread group for which functions of the kernel count */

#define COUNT(section, program, member, counts)                                \
	SEC(section)                                                           \
	int program(void *ctx)                                                 \
	{                                                                      \
		u32 zero = 0;                                                  \
		struct row *row = bpf_map_lookup_elem(&function_links, &zero); \
                                                                               \
		if (row && (counts))                                           \
			add(&row->member, 1);                                  \
		return 0;                                                      \
	}

#define IS_ONLY (bpf_get_current_pid_tgid() >> 32 == only)

COUNT("uprobe", links_call, calls, true)
COUNT("uretprobe", links_return, returns, true)
COUNT("kprobe", links_kernel_call, single, IS_ONLY)
COUNT("kprobe.multi", links_kernel_calls, kernel_calls, IS_ONLY)
COUNT("kretprobe.multi", links_kernel_returns, kernel_returns, IS_ONLY)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
