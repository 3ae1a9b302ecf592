/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ALLOWANCE_H
#define EBPF_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* How many new names there may be: so many at once, and as many again in each hour. Times are of
 * CLOCK_BOOTTIME. */
struct allowance {
	double most;
	double left;
	uint64_t filled_ns; /* until when the passing of time has been credited, 0: not yet */
};

/* Whole at first. */
void allowance_init(struct allowance *allowance, unsigned most);

/* Credits the time until now. */
void allowance_fill(struct allowance *allowance, uint64_t now_ns);

/* One more; false: not now. */
bool allowance_take(struct allowance *allowance);

#endif
