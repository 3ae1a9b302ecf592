/* SPDX-License-Identifier: MIT */
/*
 * Samples are taken at random moments: what happens by a timer of its own, as much does, would be
 * met always or never at a fixed period. From half to one and a half of the mean, so that no
 * moment of what has a period of its own is left out for long.
 */
#include "pace.h"

#define SMOOTHING 8 /* times that the cost of one is thought of */

void pace_note(struct pace *pace, uint64_t cost_ns)
{
	if (pace->cost_ns == 0)
		pace->cost_ns = (double)cost_ns;
	pace->cost_ns += ((double)cost_ns - pace->cost_ns) / SMOOTHING;
}

double pace_period_ns(const struct pace *pace)
{
	double wanted = 1e9 / pace->hz, allowed = pace->cost_ns / pace->share;

	return wanted > allowed ? wanted : allowed;
}

uint64_t pace_wait_ns(const struct pace *pace, double draw)
{
	return (uint64_t)(pace_period_ns(pace) * (0.5 + draw));
}
