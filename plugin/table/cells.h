/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CELLS_H
#define EBPF_CELLS_H

#include "accumulator.h"
#include "schema/schema.h"
#include "source/source.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the cells of a row, the sum of its parts. */
void cells_read(const struct schema *schema, const struct row_bytes *row, uint64_t *ret_cells);

/* The growth of a histogram's bucket since `previous`, which is updated. The program may move a
 * sample to another bucket, so that one falls. A bucket that fell reports no growth until it has
 * passed what was already reported; so sums stay right. */
static inline uint64_t bucket_growth(uint64_t now, uint64_t *previous)
{
	uint64_t grown = now - *previous;

	if ((int64_t)grown < 0)
		return 0;
	*previous = now;
	return grown;
}

/* The cells of a row now and at the last reading. */
struct row_cells {
	const uint64_t *now;
	uint64_t *previous;
	uint64_t bucket; /* the number in the row's key, for spread columns */
};

/* Adds a row to accumulators: the values of its gauges to one, the growth of its counters to the
 * other. row->previous is updated. elapsed_s is the time since the last reading; 0: there was none.
 * Returns true if a column grew fast enough to make the service active. */
bool cells_feed(const struct schema *schema, double elapsed_s, const struct row_cells *row,
		struct accumulator *gauges, struct accumulator *counters);

#endif
