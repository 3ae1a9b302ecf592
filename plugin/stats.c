/* SPDX-License-Identifier: MIT */
/*
 * Statistics of what the kernel counted in one interval.
 */
#include "stats.h"

#include "hist.h"

#include <math.h>

#define LIMB 4294967296.0L /* 2^32 */

struct moments_summary moments_summarise(const uint64_t cells[MOMENTS_CELLS])
{
	struct moments_summary none = { NAN, NAN, NAN }, s;
	long double n = cells[0], sum = cells[1];
	long double squares = cells[2] + LIMB * (cells[3] + LIMB * cells[4]);
	long double variance;

	if (cells[0] == 0)
		return none;
	variance = (squares - sum * sum / n) / n;
	s.mean = (double)(sum / n);
	s.variance = variance > 0 ? (double)variance : 0;
	s.cv = s.mean > 0 ? sqrt(s.variance) / s.mean : NAN;
	return s;
}

uint64_t hist_count(const uint64_t *buckets, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += buckets[i];
	return total;
}

double hist_mean(const uint64_t *buckets, size_t count)
{
	uint64_t total = hist_count(buckets, count);
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double low = (double)hist_lower((uint32_t)i);
		double high = (double)hist_lower((uint32_t)i + 1) - 1;

		sum += (double)buckets[i] * (low + high) / 2;
	}
	return total ? sum / (double)total : NAN;
}

double hist_percentile(const uint64_t *buckets, size_t count, double percent)
{
	uint64_t total = hist_count(buckets, count);
	double rank = percent / 100 * (double)total, below = 0;
	size_t last = 0;

	if (total == 0)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		double in = (double)buckets[i];
		double low = (double)hist_lower((uint32_t)i);
		double high = (double)hist_lower((uint32_t)i + 1) - 1;

		if (buckets[i] && below + in >= rank)
			return low + (high - low) * (rank - below) / in;
		below += in;
		if (buckets[i])
			last = i;
	}
	return (double)hist_lower((uint32_t)last + 1) - 1;
}
