/* SPDX-License-Identifier: MIT */
/*
 * Mean and variance of the moments that the kernel counted in one interval.
 */
#include "moments.h"

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
