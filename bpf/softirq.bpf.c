/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Software interrupts: how many each CPU has handled of each kind, and how long that took.
 *
 * Hooks: tp_btf softirq_entry and softirq_exit. They do not nest on a CPU, so the time of the one
 * that it is in is all that has to be kept, and counters of a CPU need no atomics.
 *
 * Limits: the time of a hardware interrupt that comes in between is in it, as the hypervisor's is.
 */
#include "metric.bpf.h"
#include "span.bpf.h"

#define NS "scale=1/1000000000"

/* As /proc/softirqs has them, in the kernel's order. */
enum softirq {
	HI,
	TIMER,
	NET_TX,
	NET_RX,
	BLOCK,
	IRQ_POLL,
	TASKLET,
	SCHED,
	HRTIMER,
	RCU,
	SOFTIRQS,
};

struct softirq_row {
	u64 count METRIC("irq-softirq") UNIT("interrupts")
		HELP("Software interrupts: of each kind on each CPU");
	u64 time_ns METRIC("total_time_in_ms-softirq scale=1/1000000") UNIT("milliseconds")
		HELP("Time in software interrupts: from begin to end");
	struct hist duration METRIC("duration-softirq " NS) UNIT("seconds")
		HELP("Duration of a software interrupt: from begin to end");
};

PERCPU_ARRAY(softirqs, enum softirq, struct softirq_row, SOFTIRQS) SUBJECT("key cpu");

CPU_SPANS(softirq_spans);

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_begin)
{
	struct span *span = cpu_span_make(&softirq_spans);

	if (span)
		span_begin(span);
	return 0;
}

/* One that began before the probe counts not at all. */
SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_end, unsigned int kind)
{
	struct softirq_row *row = bpf_map_lookup_elem(&softirqs, &kind);
	struct span *span = cpu_span(&softirq_spans);
	u64 taken_ns;

	if (!row || !span)
		return 0;
	taken_ns = span_end(span);
	row->count++;
	row->time_ns += taken_ns;
	hist_add(&row->duration, taken_ns);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Software interrupts: by CPU and kind") = "Dual MIT/GPL";
