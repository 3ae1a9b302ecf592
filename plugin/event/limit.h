/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LIMIT_H
#define EBPF_LIMIT_H

#include "system/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define LIMIT_BURST 10
#define LIMIT_PERIOD_NS (60 * NS_PER_S)

/* How often something may be told: a burst, and then once a period. Times are of CLOCK_BOOTTIME. */
struct limit {
	unsigned used;        /* of the burst */
	uint64_t credited_ns; /* until when the passing of time has been credited */
	uint64_t held;        /* that were not told since the last that was */
};

/* One more; true: it may be told, and so many were held back before it. */
bool limit_pass(struct limit *limit, uint64_t now_ns, uint64_t *ret_held);

/* May the last of those that were held back be told now? So many are, with it. */
bool limit_release(struct limit *limit, uint64_t now_ns, uint64_t *ret_held);

/* When that will be, UINT64_MAX: none is held back. */
uint64_t limit_due(const struct limit *limit);

#endif
