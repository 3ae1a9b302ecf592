/* SPDX-License-Identifier: MIT */
/*
 * Records all durations of a run by the second in which they ended, and computes
 * percentiles: the truth of clients and of servers with a log.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct sample {
	uint64_t end_ns; /* time of day */
	uint64_t ns;
};

struct record {
	struct sample *samples;
	size_t count, room;
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Exits if there is no memory. */
void record_add(struct record *record, uint64_t ns);

/* "NAME": {"count", "average", "p50", "p90", "p99", "p99.9", "max", "seconds": [[second,
 * count, p50, p90, p99, p99.9], ...], "tenths": [[time, count], ...]}, all in seconds; and is
 * empty again. */
void record_print(struct record *record, const char *name, FILE *out);

#endif
