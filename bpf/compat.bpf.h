/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Where kernels differ, each difference once.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include "kernel.bpf.h"

#define CPUS_MAX 512

const volatile u32 cpus_possible = 1;
u32 cpus_end = CPUS_MAX; /* above the highest that is online; others hold nothing */

/* Where the per-CPU variables of a CPU lie. The kernel's own table is a data
 * symbol, which kallsyms need not show (CONFIG_KALLSYMS_ALL); a per-CPU map
 * tells the same: address of a CPU's element less that of the variable. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} percpu_anchor SEC(".maps");

static volatile u64 address; /* through memory a pointer becomes a number */
static u64 percpu_offset[CPUS_MAX];

/* 6.2 made an array of per-CPU counters of what was a struct: f1a7941243c1 ("mm:
 * convert mm's rss stats into percpu_counter"). Asked of the member: for a type
 * that the kernel does not have, libbpf searches all modules, which needs
 * CAP_SYS_ADMIN. */
static bool mm_counters_percpu(void)
{
	return bpf_core_field_exists(struct mm_struct, rss_stat);
}

static void percpu_offsets_find(void)
{
	u64 base = 0;

	if (!mm_counters_percpu())
		return;
	address = (u64)&percpu_anchor;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(address + bpf_core_field_offset(struct bpf_array, pptrs)));
	for (u32 cpu = 0; cpu < cpus_possible && cpu < CPUS_MAX; cpu++) {
		u32 zero = 0;
		void *element = bpf_map_lookup_percpu_elem(&percpu_anchor, &zero, cpu);

		if (!element)
			continue;
		address = (u64)element;
		percpu_offset[cpu] = address - base;
	}
}

struct mm_struct___v6_1 {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

/* An index that the compiler does not know is not relocated: the kernel's
 * element is larger than ours. */
static struct percpu_counter *mm_percpu_counter(struct mm_struct *mm, u32 kind)
{
	return (void *)mm + bpf_core_field_offset(struct mm_struct, rss_stat) +
	       kind * bpf_core_type_size(struct percpu_counter);
}

struct mm_pages {
	s64 kind[NR_MM_COUNTERS];
};

static void add_parts(struct mm_pages *pages, void *const *parts, bool together)
{
	for (u32 cpu = 0; cpu < cpus_possible && cpu < CPUS_MAX && cpu < cpus_end; cpu++) {
		u64 offset = percpu_offset[cpu];
		s32 part[NR_MM_COUNTERS] = {};

		if (together)
			bpf_probe_read_kernel(part, sizeof(part), parts[0] + offset);
		else
			for (u32 i = 0; i < NR_MM_COUNTERS; i++)
				bpf_probe_read_kernel(&part[i], sizeof(s32), parts[i] + offset);
		for (u32 i = 0; i < NR_MM_COUNTERS; i++)
			pages->kind[i] += part[i];
	}
}

/* Pages by kind. The count that CPUs share is off by what each keeps for
 * itself, up to all of it on kernels that sum up only on demand. 6.6 put the
 * parts of the kinds side by side, one read for all: 14ef95be6f55
 * ("kernel/fork: group allocation/free of per-cpu counters for mm struct"). */
static void mm_pages_read(struct mm_struct *mm, struct mm_pages *pages)
{
	struct mm_struct___v6_1 *old = (void *)mm;
	void *parts[NR_MM_COUNTERS];
	bool together = true;

	if (!mm_counters_percpu()) {
		bpf_core_read(pages, sizeof(*pages), &old->rss_stat);
	} else {
		for (u32 i = 0; i < NR_MM_COUNTERS; i++) {
			struct percpu_counter *counter = mm_percpu_counter(mm, i);

			pages->kind[i] = BPF_CORE_READ(counter, count);
			parts[i] = BPF_CORE_READ(counter, counters);
			together &= parts[i] == parts[0] + i * sizeof(s32);
		}
		add_parts(pages, parts, together);
	}
	for (u32 i = 0; i < NR_MM_COUNTERS; i++)
		if (pages->kind[i] < 0)
			pages->kind[i] = 0;
}

static u64 rss_of(const struct mm_pages *pages)
{
	return pages->kind[MM_FILEPAGES] + pages->kind[MM_ANONPAGES] + pages->kind[MM_SHMEMPAGES];
}

static u64 rss_pages(struct mm_struct *mm)
{
	struct mm_pages pages;

	mm_pages_read(mm, &pages);
	return rss_of(&pages);
}

#endif
