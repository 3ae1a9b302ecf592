/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The resident pages of a process, exact to the page on each kernel.
 */
#ifndef MEMORY_BPF_H
#define MEMORY_BPF_H

#include "kernel/mm.bpf.h"
#include "map.bpf.h"

u32 cpus_end = 1 << 20; /* above the highest online CPU; offline CPUs have no pages */

/* Finds the address of per-CPU variables. The kernel's own table of offsets is a data symbol, which
 * kallsyms may omit (CONFIG_KALLSYMS_ALL). A per-CPU map has the same offsets, for every possible
 * CPU: address of a CPU's element minus address of the variable. */
PERCPU_ARRAY(percpu_anchor, u32, u64, 1);

static volatile u64 address; /* a pointer stored here and read back is a number to the verifier */
/* Its own address minus that of the map's per-CPU variable, 0: not known yet. A CPU's element minus
 * the former is a number, too. */
static volatile u64 percpu_origin;

static void percpu_origin_find(void)
{
	u64 base = 0;

	if (!mm_counters_percpu())
		return;
	address = (u64)&percpu_anchor;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(address + bpf_core_field_offset(struct bpf_array, pptrs)));
	address = (u64)&percpu_origin;
	percpu_origin = address - base;
}

struct mm_pages {
	s64 kind[NR_MM_COUNTERS];
};

/* The per-CPU parts of each kind; `together`: they are adjacent. */
struct mm_parts {
	void *kind[NR_MM_COUNTERS];
	bool together;
	struct mm_pages sum;
};

/* CO-RE does not relocate a variable index: the kernel's element is larger than ours. */
#define READ_SHARED(mm, parts, i)                                      \
	do {                                                           \
		(parts)->sum.kind[i] = (mm)->rss_stat[i].count;        \
		(parts)->kind[i] = (void *)(mm)->rss_stat[i].counters; \
	} while (0)

/* 1: there are no more CPUs, or the offsets are unknown. */
static long add_parts_of(u32 cpu, struct mm_parts *parts)
{
	u32 zero = 0;
	void *element = bpf_map_lookup_percpu_elem(&percpu_anchor, &zero, cpu);
	s32 part[NR_MM_COUNTERS] = {};
	u64 offset;

	if (!element || !percpu_origin)
		return 1;
	offset = element - (void *)&percpu_origin + percpu_origin;
	if (parts->together)
		bpf_probe_read_kernel(part, sizeof(part), parts->kind[0] + offset);
	else
		for (u32 i = 0; i < NR_MM_COUNTERS; i++)
			bpf_probe_read_kernel(&part[i], sizeof(s32), parts->kind[i] + offset);
	for (u32 i = 0; i < NR_MM_COUNTERS; i++)
		parts->sum.kind[i] += part[i];
	return 0;
}

/* Pages by kind. The shared count misses what each CPU keeps to itself, up to everything on kernels
 * that sum up only on demand. 6.6 made the parts of all kinds adjacent, so that one read gets them:
 * 14ef95be6f55 ("kernel/fork: group allocation/free of per-cpu counters for mm struct"). */
static void mm_pages_read(struct mm_struct *mm, struct mm_pages *pages)
{
	struct mm_struct___v6_1 *old = (void *)mm;
	struct mm_parts parts = { .together = true };

	if (!mm_counters_percpu()) {
		bpf_core_read(pages, sizeof(*pages), &old->rss_stat);
	} else {
		READ_SHARED(mm, &parts, 0);
		READ_SHARED(mm, &parts, 1);
		READ_SHARED(mm, &parts, 2);
		READ_SHARED(mm, &parts, 3);
		for (u32 i = 1; i < NR_MM_COUNTERS; i++)
			parts.together &= parts.kind[i] == parts.kind[0] + i * sizeof(s32);
		bpf_loop(cpus_end, add_parts_of, &parts, 0);
		*pages = parts.sum;
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
