/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ACCUMULATOR_H
#define EBPF_ACCUMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCUMULATOR_PAST 5 /* windows of moments that the present one may go back by */
#define ACCUMULATOR_KEPT \
	(ACCUMULATOR_PAST + 1) /* whether load began in the oldest shows before it */

struct schema;

/* What the rows of one subject add up to, in cells of the schema. */
struct accumulator {
	uint64_t generation; /* of the subject that it is for */
	bool fed;            /* a row was added at this reading */
	bool counted;        /* a row of it was ever other than zero */
	bool begins;         /* a new service: at the last reading, which there was, all was zero */
	uint64_t *total;     /* growth since the subject has a series */
	uint64_t *window;    /* growth since the last reading; of gauges the sum now */
	uint64_t *past;      /* windows of moments before that, the last one first */
};

/* By number of the subject, or by row. */
struct accumulators {
	struct accumulator *accumulator;
	size_t count;
	size_t held; /* that take memory */
};

/* Of total, window and past, which lie behind each other. */
size_t accumulator_cells(const struct schema *schema);

/* The accumulator of a subject, empty if it was another subject's, which ret_new tells;
 * NULL: no memory. */
struct accumulator *accumulators_at(struct accumulators *accumulators, const struct schema *schema,
				    size_t subject, uint64_t generation, bool *ret_new);

/* A reading begins: nothing is in the windows. What was is past, if `keep`. */
void accumulators_begin(struct accumulators *accumulators, const struct schema *schema, bool keep);

/* What is added from here on belongs to the same windows; gauges are taken anew. */
void accumulators_continue(struct accumulators *accumulators, const struct schema *schema);

/* The window of a column of moments. One that has samples goes back by whole readings until it has
 * as many as `enough`, by ACCUMULATOR_PAST at most, and no further than load goes back without a
 * pause: neither over a reading without samples nor into the one after that, of which a part
 * was without load. */
void accumulator_moments(const struct accumulator *accumulator, const struct schema *schema,
			 uint32_t column, uint64_t enough, uint64_t *ret_cells);

/* Of a subject that is gone: takes no memory. */
void accumulators_forget(struct accumulators *accumulators, size_t subject);

void accumulators_done(struct accumulators *accumulators);

#endif
