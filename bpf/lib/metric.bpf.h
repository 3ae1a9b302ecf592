/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Tags: how a probe says what it counts. docs/writing-a-probe.md describes each tag and its words.
 */
#ifndef METRIC_BPF_H
#define METRIC_BPF_H

#include "kernel/sched.bpf.h"
#include "map.bpf.h"
#include "hist.h"

#define METRIC(text) __attribute__((btf_decl_tag("metric:" text)))
#define SUBJECT(text) __attribute__((btf_decl_tag("subject:" text)))
#define EVENT(text) __attribute__((btf_decl_tag("event:" text)))
#define LABEL(word) __attribute__((btf_decl_tag("label:" word)))
#define UNIT(text) __attribute__((btf_decl_tag("unit:" text)))
#define HELP(text) __attribute__((btf_decl_tag("help:" text)))
#define SAMPLE(text) __attribute__((btf_decl_tag("sample:" text)))
#define PERIODIC(text) __attribute__((btf_decl_tag("periodic:" text)))
#define STACKS(text) __attribute__((btf_decl_tag("stacks:" text)))
#define OPTION(name) __attribute__((btf_decl_tag("option:" name)))
#define BY_CPU(option) __attribute__((btf_decl_tag("by_cpu:" option)))
#define OVER(map) __attribute__((btf_decl_tag("over:" #map)))
#define RANGE(low, high) __attribute__((btf_decl_tag("range:" #low ".." #high)))
#define FILE(text) __attribute__((btf_decl_tag("file:" text)))
#define FIELD(text) __attribute__((btf_decl_tag("field:" text)))
/* A table whose rows are read from files: FILE_TABLE(...) SUBJECT(...) FILE(...); */
#define FILE_TABLE(name, key, row, rows) HASH(name, key, row, rows)
#define DEFAULT(state) __attribute__((btf_decl_tag("default:" #state)))
#define SHARED(layout) __attribute__((btf_decl_tag("shared:" #layout)))
#define TIER(number) __attribute__((btf_decl_tag("tier:" #number)))

/* For the mean and variance of samples. The sum of squares is split into limbs of 32 bits, each in
 * a counter of its own: several CPUs may add at once without carry, and values below 2^48 do not
 * overflow. */
struct moments {
	u64 count;
	u64 sum;
	u64 squares[3];
};

struct hist {
	u64 bucket[HIST_BUCKETS];
};

static __always_inline void add(u64 *counter, u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* The growth of a counter; 0 if another CPU read it later. */
static __always_inline u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static __always_inline void moments_add(struct moments *m, u64 value)
{
	u64 high = value >> 32, low = (u32)value;
	u64 cross = 2 * high * low;
	u64 mid = (low * low >> 32) + (u32)cross;

	add(&m->count, 1);
	add(&m->sum, value);
	add(&m->squares[0], (u32)(low * low));
	add(&m->squares[1], (u32)mid);
	add(&m->squares[2], high * high + (cross >> 32) + (mid >> 32));
}

/* The bucket is in a 64-bit register, for which verifiers of older kernels keep bounds. */
static __always_inline void hist_count(struct hist *h, u64 bucket, u64 n)
{
	asm volatile("" : "+r"(bucket));
	if (bucket < HIST_BUCKETS)
		add(&h->bucket[bucket], n);
}

static __always_inline void hist_add(struct hist *h, u64 value)
{
	hist_count(h, hist_index(value), 1);
}

#endif
