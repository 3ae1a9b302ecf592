/* SPDX-License-Identifier: MIT */
/*
 * Reads a row of services, processes or a probe: adds its growth since the last reading to the
 * accumulator of its subject.
 */
#include "table_row.h"

#include "cells.h"
#include "kind.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <string.h>

bool table_is_of_slot_processes(const struct table *table)
{
	return table->schema.subject.kind == SUBJECT_PROCESS && table->schema.subject.via[0];
}

/* Reads the sum of all shards of a row. */
static void read_row_cells(const struct table *table, uint32_t row, uint64_t *ret_cells)
{
	const struct row_bytes bytes = {
		.at = rows_at(&table->rows, row, 0),
		.parts = table->rows.shards,
		.stride = table->rows.stride,
	};

	cells_read(&table->schema, &bytes, ret_cells);
}

static uint64_t *previous_cells(const struct table *table, uint32_t row)
{
	return (uint64_t *)table->previous.start + (size_t)row * table->schema.cells;
}

void table_remember(const struct table *table, uint32_t row)
{
	read_row_cells(table, row, previous_cells(table, row));
}

/* The buffer behind the last row takes the cells first. */
void table_remember_first(const struct table *table, uint32_t row)
{
	uint64_t *now = previous_cells(table, table->rows.count), any = 0;

	read_row_cells(table, row, now);
	for (uint32_t i = 0; i < table->schema.cells; i++)
		any |= now[i];
	if (any)
		memcpy(previous_cells(table, row), now, table->schema.cells * sizeof(*now));
}

/* Adds the gauges of a row to one accumulator and the growth of its counters to another. Returns
 * true if the growth makes the service active. */
static bool feed_row(const struct table *table, uint32_t row, struct accumulator *gauges,
		     struct accumulator *counters)
{
	uint64_t *now = previous_cells(table, table->rows.count);
	const struct row_cells cells = { .now = now, .previous = previous_cells(table, row) };

	read_row_cells(table, row, now);
	return cells_feed(&table->schema, (double)table->elapsed_ns / 1e9, &cells, gauges,
			  counters);
}

/* Where the growth of counters goes. The series of a new command name start at zero: the first
 * value of a counter shows no rate, so the growth until now is added to "other", which counted the
 * name before. Tables of slots and of files add it to the subject. */
static struct accumulator *counters_of(struct table *table, const struct snapshot *snapshot,
				       uint32_t row, struct accumulator *own, bool is_new)
{
	if (table->schema.subject.kind != SUBJECT_SERVICE || !is_new ||
	    snapshot_configured(snapshot, row) || table->fields || table->schema.subject.via[0])
		return own;
	return &table->accumulators.accumulator[snapshot_subject(snapshot, SERVICE_OTHER)];
}

/* Processes may come and go faster than their accumulators are freed. */
static bool is_out_of_accumulators(const struct table *table, size_t subject)
{
	const struct accumulators *accumulators = &table->accumulators;

	return table_is_of_slot_processes(table) &&
	       accumulators->allocated >= (size_t)TABLE_SLOT_OWNERS_MAX * table->rows.count &&
	       (subject >= accumulators->count || !accumulators->accumulator[subject].total);
}

/* Files say something about one service only: "other" has no limit of its own. */
static int subject_of_row(const struct table *table, const struct snapshot *snapshot, uint32_t row)
{
	enum subject_kind kind = table->schema.subject.kind;

	if (kind != SUBJECT_SERVICE)
		return row_kind_of(kind)->resolve(snapshot, row);
	if (table->fields && !snapshot_is_shown(snapshot, row))
		return -1;
	return snapshot_service(snapshot, row, table->asks_for_other);
}

/* `at` is the entry of the table: the row itself, or its slot. */
int table_read_row(struct table *table, const struct snapshot *snapshot, uint32_t row, uint32_t at,
		   struct error *error)
{
	enum subject_kind kind = table->schema.subject.kind;
	int subject = subject_of_row(table, snapshot, row);
	struct accumulator *accumulator, *counters;
	bool is_new;

	if (kind == SUBJECT_SERVICE && snapshot_is_undecided(snapshot, row))
		return 0;
	if (subject >= 0 && is_out_of_accumulators(table, (size_t)subject)) {
		__atomic_fetch_add(&table->refused, 1, __ATOMIC_RELAXED);
		subject = -1;
	}
	if (subject < 0) {
		table_remember(table, at);
		return 0;
	}
	accumulator = accumulators_at(
		&table->accumulators, &table->schema, (size_t)subject,
		kind == SUBJECT_PROBE ? 0 : snapshot->subjects.subject[subject].generation,
		&is_new);
	if (!accumulator)
		return error_set(error, -ENOMEM, "map %s: no memory for subjects", table->name);
	if (is_new && table->fields && kind == SUBJECT_SERVICE &&
	    !snapshot_configured(snapshot, row))
		table_remember(table, at);
	counters = counters_of(table, snapshot, row, accumulator, is_new);
	accumulator->begins |=
		is_new && table->elapsed_ns && counters == accumulator && kind == SUBJECT_SERVICE;
	if (feed_row(table, at, accumulator, counters) && kind == SUBJECT_SERVICE)
		snapshot_set_active(snapshot, row);
	return 0;
}
