/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that counts what its Probe block attaches it to: the sections of its programs
 * name only the kind of hook.
 *
 * Hooks: uprobe, uretprobe, usdt, kprobe, kretprobe, tracepoint and perf_event, all by Attach.
 */
#include "metric.bpf.h"

const volatile u32 only = 0; /* thread group, 0: all */

struct row {
	u64 calls METRIC("derive-calls");
	u64 others METRIC("derive-others");
	u64 returns METRIC("derive-returns");
	u64 markers METRIC("derive-markers");
	u64 kernel_calls METRIC("derive-kernel_calls");
	u64 kernel_returns METRIC("derive-kernel_returns");
	u64 tracepoints METRIC("derive-tracepoints");
	u64 samples METRIC("derive-samples");
};

MMAP_ARRAY(attach, struct row, 1) SUBJECT("probe");

static struct row *row(void)
{
	u32 zero = 0;

	if (only && bpf_get_current_pid_tgid() >> 32 != only)
		return NULL;
	return bpf_map_lookup_elem(&attach, &zero);
}

#define COUNT(section, program, member)      \
	SEC(section)                         \
	int program(void *ctx)               \
	{                                    \
		struct row *to = row();      \
                                             \
		if (to)                      \
			add(&to->member, 1); \
		return 0;                    \
	}

COUNT("uprobe", attach_call, calls)
COUNT("uprobe", attach_other, others)
COUNT("uretprobe", attach_return, returns)
COUNT("usdt", attach_marker, markers)
COUNT("kprobe", attach_kernel_call, kernel_calls)
COUNT("kretprobe", attach_kernel_return, kernel_returns)
COUNT("tracepoint", attach_tracepoint, tracepoints)
COUNT("perf_event", attach_sample, samples)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
