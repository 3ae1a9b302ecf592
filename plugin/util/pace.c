/* SPDX-License-Identifier: MIT */
/*
 * Samples are taken at random times. With a fixed period, work that runs by a timer of its own, as
 * much does, would be sampled always or never. The interval is 0.5 to 1.5 times the mean, so that
 * no phase of such a timer is missed for long.
 */
#include "pace.h"

#define SMOOTHING 8 /* a new cost counts 1/8 in the smoothed cost */

void pace_note(struct pace *pace, uint64_t cost_ns)
{
	if (pace->cost_ns == 0)
		pace->cost_ns = (double)cost_ns;
	pace->cost_ns += ((double)cost_ns - pace->cost_ns) / SMOOTHING;
}

double pace_period_ns(const struct pace *pace)
{
	double wanted = 1e9 / pace->hz, allowed = pace->cost_ns / pace->cpu_fraction;

	return wanted > allowed ? wanted : allowed;
}

uint64_t pace_wait_ns(const struct pace *pace, double draw)
{
	return (uint64_t)(pace_period_ns(pace) * (0.5 + draw));
}
