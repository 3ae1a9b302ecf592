/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PERCENTILE_H
#define EBPF_PERCENTILE_H

#include "schema/buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of values in a histogram. */
uint64_t hist_count(const uint64_t *buckets, size_t count);

/* The mean. buckets[count] is the sum of all values; if it is 0, the sum is estimated from the
 * geometric middles of the buckets. NAN if empty. */
double hist_mean(const uint64_t *buckets, size_t count);

/* The value that `percent` (0-100) of the values do not exceed: the geometric middle of its
 * bucket, at most 3.1 % off, or with `least` the bucket's least value, at most 1/16 off; NAN if empty. */
double hist_percentile(const uint64_t *buckets, size_t count, double percent, bool least);

/* Where the largest values begin, `percent` (0-100) of all: a bound of the bucket in which that
 * percentile is, the one beyond which there are nearer to so many by ratio, but no more than half of
 * all. So equal values are either all among the largest, or none of them is. 0 if empty. */
uint64_t hist_tail(const uint64_t *buckets, size_t count, double percent);

/* The mean of a histogram with configured buckets. cells[count] is the sum of all values; if it is
 * 0, the sum is estimated from the middles of the buckets. NAN if empty. */
double buckets_mean(const struct buckets *buckets, const uint64_t *cells);

/* The value that `percent` (0-100) of the values do not exceed, if the values of a bucket are
 * spread evenly over it. NAN if empty. */
double buckets_percentile(const struct buckets *buckets, const uint64_t *cells, double percent);

#endif
