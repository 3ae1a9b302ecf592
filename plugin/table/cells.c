/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a row to 64-bit cells, and their growth.
 */
#include "cells.h"

#include <string.h>

static uint64_t read_narrow(const struct column *column, const unsigned char *row, uint32_t i)
{
	const unsigned char *at = row + column->offset + (size_t)i * column->cell_size;

	switch (column->cell_size) {
	case 4:
		return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
	case 2:
		return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
	default:
		return *at;
	}
}

/* A gauge of less than 64 bits, with its sign. */
static uint64_t extend_sign(const struct column *column, uint64_t cell)
{
	unsigned shift = 64 - 8 * column->cell_size;

	return column->is_signed && shift ? (uint64_t)((int64_t)(cell << shift) >> shift) : cell;
}

/* A counter wraps at its own size, for example at 32 bits. */
static uint64_t wrapped_growth(const struct column *column, uint64_t now, uint64_t before)
{
	unsigned shift = 64 - 8 * column->cell_size;

	return (now - before) << shift >> shift;
}

/* Adds the cells of a column in one part of the row. */
static void add_row_part(const struct column *column, const unsigned char *row, uint64_t *cells)
{
	/* Nearly all cells are 64-bit ones of histograms: a reading spends its time in this
	 * loop. */
	if (column->cell_size == sizeof(uint64_t)) {
		const uint64_t *at = (const uint64_t *)(row + column->offset);

		for (uint32_t i = 0; i < column->width; i++)
			cells[i] += __atomic_load_n(&at[i], __ATOMIC_RELAXED);
		return;
	}
	for (uint32_t i = 0; i < column->width; i++) {
		uint64_t cell = read_narrow(column, row, i);

		cells[i] += column->is_gauge ? extend_sign(column, cell) : cell;
	}
}

void cells_read(const struct schema *schema, const struct row_bytes *row, uint64_t *ret_cells)
{
	const unsigned char *at = row->at;

	memset(ret_cells, 0, schema->row_cells * sizeof(*ret_cells));
	for (uint32_t part = 0; part < row->parts; part++, at += row->stride)
		for (size_t c = 0; c < schema->column_count; c++)
			add_row_part(&schema->columns[c], at, ret_cells + schema->columns[c].at);
}

/* The growth of a cell since it was last read. A counter that fell, for example because another
 * program reset it, has grown by 0 and continues from its new value. */
static uint64_t cell_growth(const struct column *column, uint64_t now, uint64_t *previous)
{
	uint64_t grown = wrapped_growth(column, now, *previous);
	bool fell = column->kind == COLUMN_INTEGER && (int64_t)grown < 0 &&
		    (now < *previous || column->is_signed);

	if (column->kind == COLUMN_HIST)
		return bucket_growth(now, previous);
	*previous = now;
	return fell ? 0 : grown;
}

/* The cell of a column that cell i of a row adds to; column->cells or more: none. */
static uint32_t cell_of(const struct column *column, uint32_t i, uint64_t bucket)
{
	return column->is_spread ? buckets_find(column->buckets, bucket) : i;
}

static void feed_gauge(const struct column *column, uint64_t now, uint64_t *window)
{
	if (!column->tag.highest)
		*window += now;
	else if (now > *window)
		*window = now;
}

bool cells_feed(const struct schema *schema, double elapsed_s, const struct row_cells *row,
		struct accumulator *gauges, struct accumulator *counters)
{
	bool is_active = false;

	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		for (uint32_t i = 0; i < column->width; i++) {
			uint32_t at = column->at + i, cell = cell_of(column, i, row->bucket);
			uint64_t grown = cell_growth(column, row->now[at], &row->previous[at]);

			if (cell >= column->cells)
				continue;
			cell += column->cell;
			gauges->counted |= row->now[at] != 0;
			if (column->is_gauge) {
				feed_gauge(column, row->now[at], &gauges->window[cell]);
				continue;
			}
			if (!grown)
				continue;
			counters->window[cell] += grown;
			counters->total[cell] += grown;
			is_active |= column->tag.active_growth && elapsed_s > 0 &&
				     (double)grown >= (double)column->tag.active_growth * elapsed_s;
		}
	}
	gauges->fed = true;
	return is_active;
}
