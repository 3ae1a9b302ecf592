/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MOMENTS_H
#define EBPF_MOMENTS_H

#include "schema/schema.h"

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

#endif
