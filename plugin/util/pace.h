/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PACE_H
#define EBPF_PACE_H

#include <stdint.h>

/* How often something is done that costs CPU. */
struct pace {
	double hz;      /* wanted */
	double share;   /* of one CPU that it may take, 0 to 1 */
	double cost_ns; /* of one time, smoothed; 0: it was not done yet */
};

/* It was done, and took so much CPU. */
void pace_note(struct pace *pace, uint64_t cost_ns);

/* The mean time from one to the next. */
double pace_period_ns(const struct pace *pace);

/* The time until the next, as drawn: `draw` is from 0 up to 1. */
uint64_t pace_wait_ns(const struct pace *pace, double draw);

#endif
