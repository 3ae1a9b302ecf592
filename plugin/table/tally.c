/* SPDX-License-Identifier: MIT */
/*
 * Sums by subject, and of moments those of some readings before.
 */
#include "tally.h"

#include "schema.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct tallies *tallies, size_t count)
{
	struct tally *grown;

	if (count <= tallies->count)
		return true;
	grown = reallocarray(tallies->tally, count, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + tallies->count, 0, (count - tallies->count) * sizeof(*grown));
	tallies->tally = grown;
	tallies->count = count;
	return true;
}

size_t tally_cells(const struct schema *schema)
{
	return 2 * (size_t)schema->cells + (size_t)TALLY_PAST * schema->moments;
}

struct tally *tallies_at(struct tallies *tallies, const struct schema *schema, size_t place,
			 uint64_t generation, bool *ret_new)
{
	struct tally *tally;

	if (!grow(tallies, place + 1))
		return NULL;
	tally = &tallies->tally[place];
	*ret_new = !tally->total || tally->generation != generation;
	if (!tally->total) {
		tally->total = calloc(tally_cells(schema) + 1, sizeof(uint64_t));
		if (!tally->total)
			return NULL;
		tally->window = tally->total + schema->cells;
		tally->past = tally->window + schema->cells;
	} else if (tally->generation != generation) {
		memset(tally->total, 0, tally_cells(schema) * sizeof(uint64_t));
		tally->counted = false;
	}
	tally->generation = generation;
	return tally;
}

/* The oldest one is forgotten. */
static void keep_window(struct tally *tally, const struct schema *schema)
{
	memmove(tally->past + schema->moments, tally->past,
		(TALLY_PAST - 1) * schema->moments * sizeof(uint64_t));
	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		if (column->kind == COLUMN_MOMENTS)
			memcpy(tally->past + column->moments, tally->window + column->cell,
			       column->cells * sizeof(uint64_t));
	}
}

void tallies_begin(struct tallies *tallies, const struct schema *schema, bool keep)
{
	for (size_t i = 0; i < tallies->count; i++) {
		struct tally *tally = &tallies->tally[i];

		tally->fed = false;
		if (!tally->total)
			continue;
		if (keep && schema->moments)
			keep_window(tally, schema);
		memset(tally->window, 0, schema->cells * sizeof(uint64_t));
	}
}

void tallies_continue(struct tallies *tallies, const struct schema *schema)
{
	for (size_t i = 0; i < tallies->count; i++)
		for (size_t c = 0; c < schema->column_count && tallies->tally[i].total; c++)
			if (schema->columns[c].is_gauge)
				tallies->tally[i].window[schema->columns[c].cell] = 0;
}

void tally_moments(const struct tally *tally, const struct schema *schema, uint32_t column,
		   uint64_t enough, uint64_t *ret_cells)
{
	const struct column *c = &schema->columns[column];
	const uint64_t *past = tally->past + c->moments;

	memcpy(ret_cells, tally->window + c->cell, c->cells * sizeof(uint64_t));
	for (int i = 0; i < TALLY_PAST && ret_cells[0] < enough; i++, past += schema->moments)
		for (uint32_t cell = 0; cell < c->cells; cell++)
			ret_cells[cell] += past[cell];
}

void tallies_done(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		free(tallies->tally[i].total);
	free(tallies->tally);
	*tallies = (struct tallies){ 0 };
}
