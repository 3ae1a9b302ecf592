/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TALLY_H
#define EBPF_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_PAST 5 /* windows of moments that are kept, besides the present one */

struct schema;

/* What the rows of one subject add up to, in cells of the schema. */
struct tally {
	uint64_t generation; /* of the subject that it is for */
	bool fed;            /* a row was added at this reading */
	bool counted;        /* a row of it was ever other than zero */
	uint64_t *total;     /* growth since the subject has a series */
	uint64_t *window;    /* growth since the last reading; of gauges the sum now */
	uint64_t *past;      /* windows of moments before that, the last one first */
};

/* By place of the subject, or by row. */
struct tallies {
	struct tally *tally;
	size_t count;
};

/* Of total, window and past, which lie behind each other. */
size_t tally_cells(const struct schema *schema);

/* The tally of a place, empty if it was another subject's, which ret_new tells;
 * NULL: no memory. */
struct tally *tallies_at(struct tallies *tallies, const struct schema *schema, size_t place,
			 uint64_t generation, bool *ret_new);

/* A reading begins: nothing is in the windows. What was is past, if `keep`. */
void tallies_begin(struct tallies *tallies, const struct schema *schema, bool keep);

/* What is added from here on belongs to the same windows; gauges are taken anew. */
void tallies_continue(struct tallies *tallies, const struct schema *schema);

/* The window of a column of moments, which goes back by whole readings until it
 * has as many samples as `enough`, or no more are kept. */
void tally_moments(const struct tally *tally, const struct schema *schema, uint32_t column,
		   uint64_t enough, uint64_t *ret_cells);

void tallies_done(struct tallies *tallies);

#endif
