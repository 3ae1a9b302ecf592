/* SPDX-License-Identifier: MIT */
/*
 * Statistics of what the kernel counted in one interval: means, variances, percentiles.
 */
#include "stats.h"

#include "bpf/lib/hist.h"

#include <math.h>

static struct moments_summary summarise(double mean, double variance)
{
	struct moments_summary s = { .mean = mean, .variance = variance > 0 ? variance : 0 };

	s.cv = mean > 0 ? sqrt(s.variance) / mean : NAN;
	return s;
}

/* In integers, so that a small variance of large values is not lost: with sum = n * m + r, the sum
 * of (x - m)^2 is squares - m * (sum + r). */
struct moments_summary moments_summarise(const uint64_t cells[MOMENTS_CELLS])
{
	uint64_t n = cells[0], sum = cells[1], m, r;
	unsigned __int128 squares, around_m;
	double fraction;

	if (n == 0)
		return (struct moments_summary){ NAN, NAN, NAN };
	squares = cells[2] + ((unsigned __int128)cells[3] << 32) +
		  ((unsigned __int128)cells[4] << 64);
	m = sum / n;
	r = sum % n;
	around_m = squares - m * ((unsigned __int128)sum + r);
	/* The kernel was adding while the cells were read: count and squares do not match. */
	if (around_m >> 127)
		around_m = 0;
	fraction = (double)r / (double)n;
	return summarise((double)m + fraction, (double)around_m / (double)n - fraction * fraction);
}

uint64_t hist_count(const uint64_t *buckets, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += buckets[i];
	return total;
}

/* The middle of the values of a bucket. The last bucket has no upper bound; it is treated as if it
 * had one. */
static double bucket_middle(size_t bucket)
{
	double low = (double)hist_lower((uint32_t)bucket);
	double high = (double)hist_lower((uint32_t)bucket + 1) - 1;

	return (low + high) / 2;
}

double hist_mean(const uint64_t *buckets, size_t count)
{
	uint64_t total = hist_count(buckets, count);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)buckets[i] * bucket_middle(i);
	return total ? sum / (double)total : NAN;
}

/* The rank of a percentile among `total` values, counted from 1. 99.9 % of 1000 is the 999th,
 * although 99.9 has no exact binary form. */
static uint64_t percentile_rank(double percent, uint64_t total)
{
	double rank = ceil(percent * (double)total / 100 * (1 - 1e-12));

	return rank < 1 ? 1 : (uint64_t)rank;
}

double hist_percentile(const uint64_t *buckets, size_t count, double percent)
{
	uint64_t total = hist_count(buckets, count), rank, seen = 0;
	size_t i = 0;

	if (total == 0)
		return NAN;
	rank = percentile_rank(percent, total);
	while (i < count - 1 && (seen += buckets[i]) < rank)
		i++;
	return bucket_middle(i);
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
