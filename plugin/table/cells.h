/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CELLS_H
#define EBPF_CELLS_H

#include "accumulator.h"
#include "schema/schema.h"
#include "source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cells of a row, all parts of it. */
void cells_read(const struct schema *schema, const struct row_bytes *row, uint64_t *ret_cells);

/* What a bucket of a histogram has grown by since `previous`, which is then now. The kernel may
 * move a sample to another bucket: then the one it was in counts no more until it is past what has
 * been counted of it, so that sums stay right. */
static inline uint64_t bucket_growth(uint64_t now, uint64_t *previous)
{
	uint64_t grown = now - *previous;

	if ((int64_t)grown < 0)
		return 0;
	*previous = now;
	return grown;
}

/* What a row holds, and held at the last reading. */
struct row_cells {
	const uint64_t *now;
	uint64_t *previous;
	uint64_t bucket; /* whose number its key has, of columns that are spread */
};

/* Adds a row as it is now to accumulators: its gauges to one, and to another what its counters have
 * grown by since `previous`, which is then now. True if that was notable; elapsed_s is the time since
 * the last reading, 0: there was none. */
bool cells_feed(const struct schema *schema, double elapsed_s, const struct row_cells *row,
		struct accumulator *gauges, struct accumulator *counters);

#endif
