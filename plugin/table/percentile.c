/* SPDX-License-Identifier: MIT */
/*
 * Percentiles and means of the histograms that the kernel counted in one interval.
 */
#include "percentile.h"

#include "bpf/lib/hist.h"

#include <math.h>

uint64_t hist_count(const uint64_t *buckets, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += buckets[i];
	return total;
}

static double bucket_low(size_t bucket)
{
	return (double)hist_lower((uint32_t)bucket);
}

static double bucket_high(size_t bucket)
{
	return bucket_low(bucket + 1) - 1;
}

/* The least of the values of a bucket, or their geometric middle. The last bucket has no upper
 * bound; it is treated as if it had one. */
static double bucket_value(size_t bucket, bool least)
{
	double low = bucket_low(bucket);

	return least ? low : sqrt(low * bucket_high(bucket));
}

/* A sample may be counted in its bucket before a reading, and in the sum after it, or the other way
 * round: what the buckets permit bounds the sum. */
double hist_mean(const uint64_t *buckets, size_t count)
{
	double total = (double)hist_count(buckets, count), sum = (double)buckets[count];
	double low = 0, middle = 0, high = buckets[count - 1] ? INFINITY : 0;

	for (size_t i = 0; i < count; i++) {
		low += (double)buckets[i] * bucket_low(i);
		middle += (double)buckets[i] * bucket_value(i, false);
		high += (double)buckets[i] * bucket_high(i);
	}
	if (total == 0)
		return NAN;
	return (sum > 0 ? fmin(fmax(sum, low), high) : middle) / total;
}

/* The rank of a percentile among `total` values, counted from 1. 99.9 % of 1000 is the 999th,
 * although 99.9 has no exact binary form. */
static uint64_t percentile_rank(double percent, uint64_t total)
{
	double rank = ceil(percent * (double)total / 100 * (1 - 1e-12));

	return rank < 1 ? 1 : (uint64_t)rank;
}

double hist_percentile(const uint64_t *buckets, size_t count, double percent, bool least)
{
	uint64_t total = hist_count(buckets, count), rank, seen = 0;
	size_t i = 0;

	if (total == 0)
		return NAN;
	rank = percentile_rank(percent, total);
	while (i < count - 1 && (seen += buckets[i]) < rank)
		i++;
	return bucket_value(i, least);
}

uint64_t hist_tail(const uint64_t *buckets, size_t count, double percent)
{
	uint64_t total = hist_count(buckets, count);
	double wanted = percent * (double)total / 100, above = 0, with = 0;
	size_t i = count;
	bool is_nearer;

	if (total == 0)
		return 0;
	while (i > 0 && with <= wanted) {
		above = with;
		with += (double)buckets[--i];
	}
	is_nearer = above * with < wanted * wanted && 2 * with <= (double)total;
	return hist_lower((uint32_t)(is_nearer ? i : i + 1));
}

double buckets_mean(const struct buckets *buckets, const uint64_t *cells)
{
	uint64_t total = hist_count(cells, buckets->count);
	double sum = (double)cells[buckets->count];

	for (uint32_t i = 0; i < buckets->count && !cells[buckets->count]; i++)
		sum += (double)cells[i] * (buckets_lower(buckets, i) + buckets_upper(buckets, i)) /
		       2;
	return total ? sum / (double)total : NAN;
}

double buckets_percentile(const struct buckets *buckets, const uint64_t *cells, double percent)
{
	double rank = percent / 100 * (double)hist_count(cells, buckets->count), before = 0;
	uint32_t i = 0;

	if (rank <= 0)
		return NAN;
	while (i < buckets->count - 1 && before + (double)cells[i] < rank)
		before += (double)cells[i++];
	if (!cells[i])
		return buckets_upper(buckets, i);
	return buckets_lower(buckets, i) + (buckets_upper(buckets, i) - buckets_lower(buckets, i)) *
						   (rank - before) / (double)cells[i];
}
