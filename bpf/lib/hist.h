/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The log-linear histogram: 16 buckets per power of two, so that a bucket is
 * at most 1/16 of its lower bound wide and its middle at most 3.2 % off.
 * Values below 16 have a bucket each; values from 2^40 on share the last.
 * Included by the BPF side (counting) and by the engine (reading).
 */
#ifndef HIST_H
#define HIST_H

#include <linux/types.h>

#define HIST_BITS 4
#define HIST_SUB (1U << HIST_BITS)
#define HIST_POWER_MAX 40
#define HIST_BUCKETS ((HIST_POWER_MAX - HIST_BITS + 1) * HIST_SUB)

/* floor(log2(value)) of a value above 0; clang 14's BPF backend has no clz. */
static inline __u32 hist_log2(__u64 value)
{
	__u32 power = 0;

	for (__u32 step = 32; step; step /= 2)
		if (value >> step) {
			power += step;
			value >>= step;
		}
	return power;
}

static inline __u32 hist_index(__u64 value)
{
	__u32 power;

	if (value < HIST_SUB)
		return value;
	power = hist_log2(value);
	if (power >= HIST_POWER_MAX)
		return HIST_BUCKETS - 1;
	return (power - HIST_BITS + 1) * HIST_SUB +
	       ((value >> (power - HIST_BITS)) & (HIST_SUB - 1));
}

/* Smallest value of a bucket; of HIST_BUCKETS, the end of the last bucket. */
static inline __u64 hist_lower(__u32 index)
{
	__u32 power = index / HIST_SUB;

	if (power == 0)
		return index;
	return (__u64)(HIST_SUB + index % HIST_SUB) << (power - 1);
}

#endif
