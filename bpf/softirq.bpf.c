/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Software interrupts: how many the CPUs have handled of each kind, how long that took, and how
 * long they had waited; with Option "cpus" for each CPU.
 *
 * Hooks: tp_btf softirq_entry and softirq_exit. They do not nest on a CPU, so one start time per
 * CPU is enough, and per-CPU counters need no atomics. With Option "latency": tp_btf softirq_raise,
 * at each raise. Of several raises before the handler starts the first counts.
 *
 * Limits: time of hardware interrupts that come in between is included, and so is time that the
 * hypervisor steals.
 */
#include "run_counter.bpf.h"
#include "span.bpf.h"

#define NS "scale=1/1000000000"

/* In the kernel's order, with the names of /proc/softirqs. */
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
		HELP("Software interrupts: of each kind");
	u64 time_ns METRIC("total_time_in_ms-softirq scale=1/1000000") UNIT("milliseconds")
		HELP("Time in software interrupts: from start to end");
	struct hist duration METRIC("duration-softirq " NS) UNIT("seconds")
		HELP("Duration of a software interrupt: from start to end");
};

PERCPU_ARRAY(softirqs, enum softirq, struct softirq_row, SOFTIRQS)
SUBJECT("key") BY_CPU("cpus");

struct softirq_latency_row {
	struct hist latency METRIC("latency-softirq " NS) UNIT("seconds")
		HELP("Latency of a software interrupt: from its raise to its start");
};

PERCPU_ARRAY(softirq_latencies, enum softirq, struct softirq_latency_row, SOFTIRQS)
OPTION("latency") SUBJECT("key") BY_CPU("cpus");

const volatile bool option_latency;

CPU_SPANS(softirq_spans);

PERCPU_ARRAY(softirq_raises, enum softirq, struct span, SOFTIRQS);

SEC("tp_btf/softirq_raise")
OPTION("latency") RUN_COUNTER(2) int BPF_PROG(softirq_raise, unsigned int kind)
{
	struct span *raise = bpf_map_lookup_elem(&softirq_raises, &kind);

	run_counter_add(2);
	if (raise && !is_since_attached(raise->began_ns))
		span_begin(raise);
	return 0;
}

static void count_softirq_latency(u32 kind)
{
	struct softirq_latency_row *row = bpf_map_lookup_elem(&softirq_latencies, &kind);
	struct span *raise = bpf_map_lookup_elem(&softirq_raises, &kind);

	if (row && raise && is_since_attached(raise->began_ns))
		hist_add(&row->latency, span_end(raise));
}

SEC("tp_btf/softirq_entry")
RUN_COUNTER(0) int BPF_PROG(softirq_begin, unsigned int kind)
{
	struct span *span = cpu_span_make(&softirq_spans);

	run_counter_add(0);
	if (option_latency)
		count_softirq_latency(kind);
	if (span)
		span_begin(span);
	return 0;
}

/* An interrupt that began before the probe was attached is not counted. */
SEC("tp_btf/softirq_exit")
RUN_COUNTER(1) int BPF_PROG(softirq_end, unsigned int kind)
{
	struct softirq_row *row = bpf_map_lookup_elem(&softirqs, &kind);
	struct span *span = cpu_span(&softirq_spans);
	u64 taken_ns;

	run_counter_add(1);
	if (!row || !span)
		return 0;
	taken_ns = span_end(span);
	row->count++;
	row->time_ns += taken_ns;
	hist_add(&row->duration, taken_ns);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off) HELP("Software interrupts: by kind") = "Dual MIT/GPL";
