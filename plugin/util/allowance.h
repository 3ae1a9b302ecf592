/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ALLOWANCE_H
#define EBPF_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* How many new names there may be: at most `most` at once, and as many again per hour. Times are of
 * CLOCK_BOOTTIME. */
struct allowance {
	double most;
	double left;
	uint64_t filled_ns; /* time up to which the hourly share has been added; 0: never */
};

/* Starts with the whole allowance. */
void allowance_init(struct allowance *allowance, unsigned most);

/* Adds what has come due until now. */
void allowance_fill(struct allowance *allowance, uint64_t now_ns);

/* Uses one; false: none is left now. */
bool allowance_use(struct allowance *allowance);

#endif
