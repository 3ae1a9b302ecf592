/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of address spaces.
 */
#ifndef KERNEL_MM_BPF_H
#define KERNEL_MM_BPF_H

#include "kernel.bpf.h"

#define ZERO_SIZE_OBJECT 16 /* result of kmalloc(0); no object has a lower address */

/* Causes of a page fault, on x86-64. */
#define FAULT_PROTECTION 0x1
#define FAULT_WRITE 0x2
#define FAULT_INSTRUCTION 0x10

enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct percpu_counter {
	s64 count;
	s32 *counters;
};

struct mm_rss_stat {
	atomic_long_t count[NR_MM_COUNTERS];
};

struct mm_struct {
	unsigned long hiwater_rss;
	unsigned long total_vm;
	struct percpu_counter rss_stat[NR_MM_COUNTERS];
};

struct page;

struct kmem_cache {
	unsigned int object_size;
};

struct mm_struct___v6_1 {
	struct mm_rss_stat rss_stat;
};

#pragma clang attribute pop

/* 6.2 replaced a struct by an array of per-CPU counters: f1a7941243c1 ("mm: convert mm's rss stats
 * into percpu_counter"). The check is by the member: for a type that the kernel lacks, libbpf
 * searches all modules, which needs CAP_SYS_ADMIN. */
static __always_inline bool mm_counters_percpu(void)
{
	return bpf_core_field_exists(struct mm_struct, rss_stat);
}

#endif
