/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STATS_H
#define EBPF_STATS_H

#include "schema/buckets.h"
#include "schema/schema.h"

#include <stddef.h>
#include <stdint.h>

/* Mean and spread of what was counted in an interval. */
struct moments_summary {
	double mean;
	double variance; /* of the population, in squares of the unit */
	double cv;       /* standard deviation / mean, no unit */
};

/* Summarises the growth of a struct moments between two readings, given as the differences of its
 * cells. All NAN if there was none. The variance is the mean of the squares less the square of the
 * mean, equation 2 of M. Rezvani, A. Jahanshahi and D. Wong, "Characterizing In-Kernel
 * Observability of Latency-Sensitive Request-level Metrics with eBPF", ISPASS 2024. */
struct moments_summary moments_summarise(const uint64_t cells[MOMENTS_CELLS]);

/* The number of values in a histogram. */
uint64_t hist_count(const uint64_t *buckets, size_t count);

/* The mean, from the middles of the buckets; NAN if empty. */
double hist_mean(const uint64_t *buckets, size_t count);

/* The value that `percent` (0-100) of the values do not exceed: the middle of its bucket, at most
 * 1/32 (3.1 %) off; NAN if empty. */
double hist_percentile(const uint64_t *buckets, size_t count, double percent);

/* The mean of a histogram with configured buckets. cells[count] is the sum of all values; if it is
 * 0, the sum is estimated from the middles of the buckets. NAN if empty. */
double buckets_mean(const struct buckets *buckets, const uint64_t *cells);

/* The value that `percent` (0-100) of the values do not exceed, if the values of a bucket are
 * spread evenly over it. NAN if empty. */
double buckets_percentile(const struct buckets *buckets, const uint64_t *cells, double percent);

#endif
