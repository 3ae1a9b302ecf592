/* SPDX-License-Identifier: MIT */
/*
 * Sums by subject; of moments also those of a few earlier readings.
 */
#include "accumulator.h"

#include "schema/schema.h"

#include <stdlib.h>
#include <string.h>

static bool grow_accumulators(struct accumulators *accumulators, size_t count)
{
	struct accumulator *grown;

	if (count <= accumulators->count)
		return true;
	grown = reallocarray(accumulators->accumulator, count, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + accumulators->count, 0, (count - accumulators->count) * sizeof(*grown));
	accumulators->accumulator = grown;
	accumulators->count = count;
	return true;
}

size_t accumulator_cells(const struct schema *schema)
{
	return 2 * (size_t)schema->cells + (size_t)ACCUMULATOR_WINDOWS * schema->moments;
}

struct accumulator *accumulators_at(struct accumulators *accumulators, const struct schema *schema,
				    size_t subject, uint64_t generation, bool *ret_new)
{
	struct accumulator *accumulator;

	if (!grow_accumulators(accumulators, subject + 1))
		return NULL;
	accumulator = &accumulators->accumulator[subject];
	*ret_new = !accumulator->total || accumulator->generation != generation;
	if (!accumulator->total) {
		accumulator->total = calloc(accumulator_cells(schema) + 1, sizeof(uint64_t));
		if (!accumulator->total)
			return NULL;
		accumulators->allocated++;
		accumulator->window = accumulator->total + schema->cells;
		accumulator->past = accumulator->window + schema->cells;
	} else if (accumulator->generation != generation) {
		memset(accumulator->total, 0, accumulator_cells(schema) * sizeof(uint64_t));
		accumulator->counted = false;
		accumulator->begins = false;
	}
	accumulator->generation = generation;
	return accumulator;
}

/* Shifts the windows of moments by one; the oldest is dropped. */
static void shift_windows(struct accumulator *accumulator, const struct schema *schema)
{
	memmove(accumulator->past + schema->moments, accumulator->past,
		(ACCUMULATOR_WINDOWS - 1) * schema->moments * sizeof(uint64_t));
	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		if (column->kind == COLUMN_MOMENTS)
			memcpy(accumulator->past + column->moments,
			       accumulator->window + column->cell,
			       column->cells * sizeof(uint64_t));
	}
}

void accumulators_begin(struct accumulators *accumulators, const struct schema *schema, bool keep)
{
	for (size_t i = 0; i < accumulators->count; i++) {
		struct accumulator *accumulator = &accumulators->accumulator[i];

		accumulator->fed = false;
		accumulator->begins = false;
		if (!accumulator->total)
			continue;
		if (keep && schema->moments)
			shift_windows(accumulator, schema);
		memset(accumulator->window, 0, schema->cells * sizeof(uint64_t));
	}
}

void accumulators_continue(struct accumulators *accumulators, const struct schema *schema)
{
	for (size_t i = 0; i < accumulators->count; i++)
		for (size_t c = 0; c < schema->column_count && accumulators->accumulator[i].total;
		     c++)
			if (schema->columns[c].is_gauge)
				accumulators->accumulator[i].window[schema->columns[c].cell] = 0;
}

void accumulator_moments(const struct accumulator *accumulator, const struct schema *schema,
			 uint32_t column, uint64_t enough, uint64_t *ret_cells)
{
	const struct column *c = &schema->columns[column];
	const uint64_t *past = accumulator->past + c->moments;

	memcpy(ret_cells, accumulator->window + c->cell, c->cells * sizeof(uint64_t));
	if (!ret_cells[0])
		return;
	for (int i = 0; i < ACCUMULATOR_PAST && ret_cells[0] < enough; i++) {
		const uint64_t *before = past + schema->moments;

		if (!past[0] || !before[0])
			return;
		for (uint32_t cell = 0; cell < c->cells; cell++)
			ret_cells[cell] += past[cell];
		past = before;
	}
}

void accumulators_forget(struct accumulators *accumulators, size_t subject)
{
	struct accumulator *accumulator = &accumulators->accumulator[subject];

	accumulators->allocated -= accumulator->total != NULL;
	free(accumulator->total);
	*accumulator = (struct accumulator){ 0 };
}

void accumulators_done(struct accumulators *accumulators)
{
	for (size_t i = 0; i < accumulators->count; i++)
		free(accumulators->accumulator[i].total);
	free(accumulators->accumulator);
	*accumulators = (struct accumulators){ 0 };
}
