/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How often the programs of busy hooks run. The engine reckons from it what a probe costs
 * (MaxOverhead), also where the kernel's run statistics are not allowed.
 *
 *     SEC("tp_btf/sched_switch")
 *     HOT(0) int BPF_PROG(sched_switch, ...)
 *     {
 *             hot_run(0);
 *
 * Each program that may run thousands of times a second has a number of its own, from 0, and
 * counts first of all, also events of nobody. Counters of a CPU are atomic, too: a program on a uprobe
 * that is preempted between load and store would take back what all others have counted meanwhile.
 */
#ifndef RUN_COUNTER_BPF_H
#define RUN_COUNTER_BPF_H

#include "hot.h"
#include "metric.bpf.h"

#define HOT(number) __attribute__((btf_decl_tag("hot:" #number)))

PERCPU_ARRAY(hot_runs, u32, u64, HOT_PROGRAMS_MAX);

static __always_inline void hot_run(u32 number)
{
	u64 *runs = bpf_map_lookup_elem(&hot_runs, &number);

	if (runs)
		add(runs, 1);
}

#endif
