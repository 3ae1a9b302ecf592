/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The log-linear histogram: 16 buckets per power of two, so that a bucket is at most 1/16 of its
 * lower bound wide and its geometric middle at most 3.1 % off. Values below 32 have a bucket each;
 * values from 2^40 on share the last. Included by the BPF side (counting) and by the engine (reading).
 */
#ifndef HIST_H
#define HIST_H

#include <linux/types.h>

#define HIST_BITS 4
#define HIST_SUB (1U << HIST_BITS)
#define HIST_POWER_MAX 40
#define HIST_BUCKETS ((HIST_POWER_MAX - HIST_BITS + 1) * HIST_SUB)
#define HIST_CELLS (HIST_BUCKETS + 1) /* the last one is the sum of the values */

/* The power of two of a value, minus HIST_BITS, at least 0. Without branches, because the verifier
 * follows each; clang 14's BPF backend has no clz. The highest set bit is copied to all bits below
 * it; then the highest six bits of the product are different for each power. */
static inline __u32 hist_shift(__u64 value)
{
	static const __u8 shifts[64] = {
		0,  40, 0,  41, 17, 12, 0,  9,  42, 24, 18, 13, 45, 54, 0,  38,
		10, 7,  43, 36, 25, 19, 27, 14, 21, 33, 46, 55, 29, 49, 0,  58,
		39, 16, 11, 8,  23, 44, 53, 37, 6,  35, 26, 20, 32, 28, 48, 57,
		15, 22, 52, 5,  34, 31, 47, 56, 51, 4,  30, 50, 3,  2,  1,  59,
	};

	_Static_assert(HIST_BITS == 4, "of the table");
	value |= HIST_SUB;
	for (__u32 step = 1; step < 64; step *= 2)
		value |= value >> step;
	return shifts[value * 0x03f48c595da84de7ULL >> 58];
}

static inline __u32 hist_index(__u64 value)
{
	__u32 shift = hist_shift(value);
	__u64 index = shift * HIST_SUB + (value >> shift);

	return index < HIST_BUCKETS ? index : HIST_BUCKETS - 1;
}

/* Smallest value of a bucket; for HIST_BUCKETS, the end of the last bucket. */
static inline __u64 hist_lower(__u32 index)
{
	__u32 power = index / HIST_SUB;

	if (power == 0)
		return index;
	return (__u64)(HIST_SUB + index % HIST_SUB) << (power - 1);
}

#endif
