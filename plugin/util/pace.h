/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PACE_H
#define EBPF_PACE_H

/* Random intervals between samples, within a CPU budget. */

#include <stdint.h>

/* How often a sample is taken. */
struct pace {
	double hz;           /* wanted rate */
	double cpu_fraction; /* of one CPU that sampling may use, 0 to 1 */
	double cost_ns;      /* CPU time of one sample, smoothed; 0: none was taken yet */
};

/* Notes the CPU time of a sample. */
void pace_note(struct pace *pace, uint64_t cost_ns);

/* The mean interval: as hz asks, or longer if the budget does not allow that. */
double pace_period_ns(const struct pace *pace);

/* The time until the next sample, by a random `draw` from 0 up to 1. */
uint64_t pace_wait_ns(const struct pace *pace, double draw);

#endif
