/* SPDX-License-Identifier: MIT */
/*
 * Writes into rows where the tails of their histograms begin, for the programs, which cannot compute
 * that. All rows with an owner get it, whether the histogram has series or not.
 */
#include "tail_percentile.h"

#include "cells.h"
#include "object/budget.h"
#include "percentile.h"

#include "bpf/lib/hist.h"

#include <errno.h>
#include <string.h>

uint64_t tails_memory(const struct table *table)
{
	return size_product(size_product(table->rows.count, table->schema.tail_count),
			    HIST_BUCKETS * sizeof(uint64_t));
}

/* The buckets at the last reading. */
static uint64_t *previous_buckets(const struct table *table, uint32_t row, size_t tail)
{
	return (uint64_t *)table->tails.start +
	       ((size_t)row * table->schema.tail_count + tail) * HIST_BUCKETS;
}

/* Reads the sum of all shards. */
static void read_hist_row(const struct rows *rows, uint32_t row, uint32_t offset,
			  uint64_t *ret_buckets)
{
	memset(ret_buckets, 0, HIST_BUCKETS * sizeof(*ret_buckets));
	for (uint32_t shard = 0; shard < rows->shards; shard++) {
		const uint64_t *at = (const uint64_t *)(rows_at(rows, row, shard) + offset);

		for (uint32_t i = 0; i < HIST_BUCKETS; i++)
			ret_buckets[i] += __atomic_load_n(&at[i], __ATOMIC_RELAXED);
	}
}

/* The growth since the last call. Buckets that have not changed are not written: memory that is not
 * touched costs nothing. */
static void read_hist_growth(const struct table *table, uint32_t row, size_t tail,
			     uint64_t *ret_buckets)
{
	uint64_t *previous = previous_buckets(table, row, tail);

	read_hist_row(&table->rows, row, table->schema.tails[tail].hist, ret_buckets);
	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		if (ret_buckets[i] != previous[i])
			ret_buckets[i] = bucket_growth(ret_buckets[i], &previous[i]);
		else
			ret_buckets[i] = 0;
}

int tails_start(struct table *table, struct error *error)
{
	uint64_t ignored[HIST_BUCKETS], size = tails_memory(table);

	if (!size)
		return 0;
	if (mapping_make(&table->tails, size))
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows", table->name,
				 table->rows.count);
	for (uint32_t row = 0; row < table->rows.count; row++)
		for (size_t i = 0; i < table->schema.tail_count; i++)
			read_hist_growth(table, row, i, ignored);
	return 0;
}

/* Is it a free slot? */
static bool is_free_slot(const struct table *table, uint32_t row)
{
	return table->schema.subject.via[0] && row && !rows_owner(&table->rows, row);
}

void tails_write(const struct table *table)
{
	uint64_t grown[HIST_BUCKETS];

	for (uint32_t row = 0; row < table->rows.count && table->schema.tail_count; row++) {
		if (is_free_slot(table, row))
			continue;
		for (size_t i = 0; i < table->schema.tail_count; i++) {
			read_hist_growth(table, row, i, grown);
			rows_write(&table->rows, row, table->schema.tails[i].member,
				   hist_tail(grown, HIST_BUCKETS, TAIL_PERCENT));
		}
	}
}

void tails_forget(const struct table *table, uint32_t row)
{
	uint64_t ignored[HIST_BUCKETS];

	for (size_t i = 0; i < table->schema.tail_count; i++) {
		read_hist_growth(table, row, i, ignored);
		rows_write(&table->rows, row, table->schema.tails[i].member, 0);
	}
}
