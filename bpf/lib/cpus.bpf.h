/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How long CPUs were idle between two walks, and which CPUs a thread may use: affinity, cpuset, and
 * the quotas of its cgroups. Where this is unavailable, and on machines with more than CPUS_MAX
 * CPUs, cpus.are_known stays false.
 */
#ifndef CPUS_BPF_H
#define CPUS_BPF_H

#include "cpu_idle.bpf.h"

#define CPUS_MAX 1024
#define CPUS_WORDS (CPUS_MAX / 64)
#define QUOTA_SHIFT 20 /* fixed-point shift of the number of CPUs that a quota allows */
#define QUOTA_GROUPS 8 /* a cgroup and its ancestors */

u32 cpus_end;

/* All online CPUs, between the previous walk and this one. */
struct cpu_times {
	u64 idle_ns;
	u64 elapsed_ns;
	u64 began_ns;
	u32 count;
	bool are_known;
};

/* Not static: clang would make a variable of each member, with BTF that the kernel rejects. */
struct cpu_times cpus;

struct cpu_set {
	u64 bits[CPUS_WORDS];
};

/* Idle time of a set of CPUs between the two walks. In static memory: sums on the stack would make
 * the verifier follow each CPU separately. */
struct cpu_sum {
	struct cpu_set set; /* the CPUs to add up */
	bool all;           /* or all that are online */
	u64 idle_ns;
	u32 count;
};

struct cpu_sum cpu_sum;

static long sum_cpu(u32 cpu, void *unused)
{
	struct cpu_idle *c = bpf_map_lookup_elem(&cpu_idles, &cpu);
	u32 word = cpu / 64 % CPUS_WORDS;

	if (!c)
		return 1;
	if (!c->elapsed_ns || !(cpu_sum.all || cpu_sum.set.bits[word] >> cpu % 64 & 1))
		return 0;
	cpu_sum.idle_ns += c->idle_ns < cpus.elapsed_ns ? c->idle_ns : cpus.elapsed_ns;
	cpu_sum.count++;
	return 0;
}

/* set: NULL means all that are online. */
static void cpus_sum(const struct cpu_set *set)
{
	cpu_sum.all = !set;
	if (set)
		cpu_sum.set = *set;
	cpu_sum.idle_ns = 0;
	cpu_sum.count = 0;
	if (kernel_has_loop() && cpus_end <= CPUS_MAX)
		bpf_loop(cpus_end, sum_cpu, NULL, 0);
}

/* Call at the start of a walk. */
static void cpus_measure(void)
{
	u64 now = bpf_ktime_get_ns();

	cpus.elapsed_ns = cpus.began_ns ? now - cpus.began_ns : 0;
	cpus.began_ns = now;
	cpus_sum(NULL);
	cpus.idle_ns = cpu_sum.idle_ns;
	cpus.count = cpu_sum.count;
	cpus.are_known = cpus.count && cpus.elapsed_ns;
}

static void cpu_set_add(struct cpu_set *set, const struct task_struct *task)
{
	u32 size = bpf_core_field_size(task->cpus_mask);
	struct cpu_set own = {};

	bpf_probe_read_kernel(&own, size < sizeof(own) ? size : sizeof(own), &task->cpus_mask);
	for (int i = 0; i < CPUS_WORDS; i++)
		set->bits[i] |= own.bits[i];
}

/* CPUs << QUOTA_SHIFT that the smallest quota of its cgroups allows the thread at this address, 0:
 * no quota. Global, so that the verifier checks it once. */
__noinline u64 cpu_quota(u64 thread)
{
	const struct task_struct *task = (void *)thread;
	const struct task_group *group = NULL;
	u64 least = 0, quota, period;

	if (!bpf_core_field_exists(group->cfs_bandwidth.quota))
		return 0;
	group = BPF_CORE_READ(task, sched_task_group);
	for (int i = 0; i < QUOTA_GROUPS && group; i++) {
		quota = BPF_CORE_READ(group, cfs_bandwidth.quota);
		period = BPF_CORE_READ(group, cfs_bandwidth.period);
		group = BPF_CORE_READ(group, parent);
		if (quota >> (63 - QUOTA_SHIFT) || !period)
			continue;
		quota = (quota << QUOTA_SHIFT) / period;
		if (!least || quota < least)
			least = quota;
	}
	return least;
}

#endif
