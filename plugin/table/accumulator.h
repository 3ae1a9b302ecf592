/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ACCUMULATOR_H
#define EBPF_ACCUMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCUMULATOR_PAST 5 /* earlier windows of moments that a result may include */
#define ACCUMULATOR_WINDOWS \
	(ACCUMULATOR_PAST + 1) /* one more shows whether load began in the oldest */

struct schema;

/* The sum of all rows of one subject, in cells of the schema. */
struct accumulator {
	uint64_t generation; /* of its subject */
	bool fed;            /* a row was added at this reading */
	bool counted;        /* a row of it has had a value other than zero */
	bool begins;         /* a new service; all cells were zero at the previous reading */
	uint64_t *total;     /* growth since the subject has had series */
	uint64_t *window;    /* growth since the last reading; of gauges the sum or the highest */
	uint64_t *past;      /* earlier windows of moments, the latest one first */
};

/* Indexed by subject, or by row. */
struct accumulators {
	struct accumulator *accumulator;
	size_t count;
	size_t allocated; /* accumulators with allocated cells */
};

/* Cells of total, window and past, which are one allocation. */
size_t accumulator_cells(const struct schema *schema);

/* The accumulator of a subject. It is empty, and *ret_new set, if it was not in use or belonged to
 * another generation. NULL: no memory. */
struct accumulator *accumulators_at(struct accumulators *accumulators, const struct schema *schema,
				    size_t subject, uint64_t generation, bool *ret_new);

/* Starts a reading with empty windows. If `keep`, the windows of moments so far become past
 * ones. */
void accumulators_begin(struct accumulators *accumulators, const struct schema *schema, bool keep);

/* Continues a reading: counters add to the same windows, gauges start from zero. */
void accumulators_continue(struct accumulators *accumulators, const struct schema *schema);

/* The window of a column of moments. If it has samples, but fewer than `enough`, earlier windows
 * are added, ACCUMULATOR_PAST at most. Only windows with uninterrupted load are added: neither a
 * window without samples nor the one after it, part of which was without load. */
void accumulator_moments(const struct accumulator *accumulator, const struct schema *schema,
			 uint32_t column, uint64_t enough, uint64_t *ret_cells);

/* Frees the cells of a subject that no longer exists. */
void accumulators_forget(struct accumulators *accumulators, size_t subject);

void accumulators_done(struct accumulators *accumulators);

#endif
