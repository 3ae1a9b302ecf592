/* SPDX-License-Identifier: MIT */
/*
 * What a table is: its subject, labels, columns and metrics.
 */
#include "schema.h"

#include <stdlib.h>

void schema_give_cells(struct schema *schema, struct column *column)
{
	column->cell = schema->cells;
	column->at = schema->row_cells;
	column->moments = schema->moments;
	schema->cells += column->cells;
	schema->row_cells += column->width;
	if (column->kind == COLUMN_MOMENTS)
		schema->moments += column->cells;
}

bool schema_is_off(const struct schema *schema, const struct metric *metric)
{
	bool is_off = false;

	for (size_t i = 0; i < metric->source_count; i++)
		is_off |= schema->columns[metric->column[i]].is_off;
	return is_off;
}

void schema_done(struct schema *schema)
{
	free(schema->columns);
	free(schema->metrics);
	free(schema->tails);
	for (size_t i = 0; i < schema->bucket_count; i++) {
		buckets_done(schema->buckets[i]);
		free(schema->buckets[i]);
	}
	free(schema->buckets);
	labels_done(&schema->labels);
	*schema = (struct schema){ 0 };
}
