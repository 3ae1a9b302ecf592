/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Run counters of busy programs. The engine computes from them what a probe costs (MaxOverhead),
 * also where the kernel's run statistics are not permitted.
 *
 *     SEC("tp_btf/sched_switch")
 *     RUN_COUNTER(0) int BPF_PROG(sched_switch, ...)
 *     {
 *             run_counter_add(0);
 *
 * Each program that may run thousands of times a second has a number of its own, from 0, and counts
 * before anything else, also events that no service owns. The per-CPU counters are updated
 * atomically: if a program on a uprobe is preempted between load and store, it would overwrite what
 * others have counted meanwhile.
 */
#ifndef RUN_COUNTER_BPF_H
#define RUN_COUNTER_BPF_H

#include "run_counter.h"
#include "metric.bpf.h"

#define RUN_COUNTER(number) __attribute__((btf_decl_tag("run_counter:" #number)))

PERCPU_ARRAY(run_counters, u32, u64, RUN_COUNTERS_MAX);

static __always_inline void run_counter_add(u32 number)
{
	u64 *runs = bpf_map_lookup_elem(&run_counters, &number);

	if (runs)
		add(runs, 1);
}

#endif
