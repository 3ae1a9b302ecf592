/* SPDX-License-Identifier: MIT */
/*
 * Reading: rows from the mapping, their growth since the last reading, added
 * up per subject. Nothing is cleared and no system call is made.
 */
#include "table.h"

#include "kind.h"
#include "object/budget.h"
#include "rank.h"
#include "source/source_text.h"

#include "bpf/lib/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS_MAX 4 /* processes that have a slot one after the other, in one reading */

/* How many names of a table have series where no Rows says so. Rows of an array by CPU, and keys that
 * are a CPU alone, are bounded by themselves; other keys may be anything. */
static uint32_t names_shown(const struct table *table)
{
	const struct rows *rows = &table->rows;
	uint32_t of_cpu = rows->count < CONFIG_NAMES ? rows->count : CONFIG_NAMES, all = 0;

	if (rows->each_cpu && rows_stay(rows))
		all = of_cpu * rows->cpus;
	else if (labels_are_of_cpus(&table->schema.labels))
		all = (uint32_t)libbpf_num_possible_cpus();
	return all > CONFIG_NAMES ? all : CONFIG_NAMES;
}

static int resize_rows(struct table *table, const struct row_counts *counts,
		       struct bpf_object *object, struct error *error)
{
	if (table->fields)
		return text_source_prepare(&table->rows, table->map, table->fields, counts, error);
	return rows_resize(&table->rows, table->map, &table->schema.subject, counts, object, error);
}

int table_resize(struct table *table, const struct row_counts *counts, struct bpf_object *object,
		 struct error *error)
{
	int status = resize_rows(table, counts, object, error);

	table->keys.cgroup_rows = counts->cgroup_rows;
	table->keys.shown_max = counts->keys ?: names_shown(table);
	table->rows.is_written = table->schema.tail_count > 0;
	return status;
}

bool table_is_of_slot_processes(const struct table *table)
{
	return table->schema.subject.kind == SUBJECT_PROCESS && table->schema.subject.via[0];
}

uint64_t table_memory(const struct table *table)
{
	uint64_t of_subject = size_product(accumulator_cells(&table->schema),
					   table_is_of_slot_processes(table) ? TURNS_MAX : 1);
	uint64_t cells = size_sum(table->schema.cells, of_subject);
	uint64_t own = size_sum(rows_memory(&table->rows), tails_memory(table));

	if (table->schema.subject.kind == SUBJECT_KEY)
		return size_sum(own, keys_memory(table));
	return size_sum(own,
			size_product(size_product(table->rows.count, cells), sizeof(uint64_t)));
}

/* A row, all shards of it. */
static void read_cells(const struct table *table, uint32_t row, uint64_t *ret_cells)
{
	const struct row_bytes bytes = {
		.at = rows_at(&table->rows, row, 0),
		.parts = table->rows.shards,
		.stride = table->rows.stride,
	};

	cells_read(&table->schema, &bytes, ret_cells);
}

bool table_follows(const struct table *table)
{
	/* Files are read at a reading alone, for those whose rows they are then. */
	return !table->fields && kind_of(table->schema.subject.kind)->follows(table);
}

bool table_gives_rows(const struct table *table)
{
	return table->schema.subject.via[0] || table->schema.subject.kind == SUBJECT_KEY;
}

static uint64_t *previous_of(const struct table *table, uint32_t row)
{
	return (uint64_t *)table->previous.start + (size_t)row * table->schema.cells;
}

void table_remember(const struct table *table, uint32_t row)
{
	read_cells(table, row, previous_of(table, row));
}

/* Of a row that holds nothing nothing is written: histograms have large ones, most of which are
 * never used, and memory that is not touched costs nothing. */
static void remember_first(const struct table *table, uint32_t row)
{
	uint64_t *now = previous_of(table, table->rows.count), any = 0;

	read_cells(table, row, now);
	for (uint32_t i = 0; i < table->schema.cells; i++)
		any |= now[i];
	if (any)
		memcpy(previous_of(table, row), now, table->schema.cells * sizeof(*now));
}

int table_start(struct table *table, struct error *error)
{
	int status = rows_start(&table->rows, error);

	status = status ?: tails_start(table, error);
	if (status)
		return status;
	if (table->schema.subject.kind == SUBJECT_KEY)
		return keys_start(table, error);
	/* A row more, for what is read now. */
	status = mapping_make(&table->previous, ((size_t)table->rows.count + 1) *
							table->schema.cells * sizeof(uint64_t));
	if (status)
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows", table->name,
				 table->rows.count);
	for (uint32_t row = 0; row < table->rows.count; row++)
		remember_first(table, row);
	return slots_start(table, error);
}

/* Adds a row, its gauges to one accumulator and what its counters grew by to another;
 * true if that was notable. */
static bool feed(const struct table *table, uint32_t row, struct accumulator *gauges,
		 struct accumulator *counters)
{
	uint64_t *now = previous_of(table, table->rows.count);
	const struct row_cells cells = { .now = now, .previous = previous_of(table, row) };

	read_cells(table, row, now);
	return cells_feed(&table->schema, (double)table->elapsed_ns / 1e9, &cells, gauges,
			  counters);
}

/* A command name that has a series from now on starts it at zero: the first value of a counter shows
 * no rate, so the growth until now stays with the others. Not so in tables of slots and of files. */
static struct accumulator *growth_to(struct table *table, const struct snapshot *snapshot,
				     uint32_t row, struct accumulator *own, bool is_new)
{
	if (table->schema.subject.kind != SUBJECT_SERVICE || !is_new ||
	    snapshot_configured(snapshot, row) || table->fields || table->schema.subject.via[0])
		return own;
	return &table->accumulators.accumulator[snapshot_subject(snapshot, SERVICE_OTHER)];
}

/* Processes come and go faster than they are told of. */
static bool is_full(const struct table *table, size_t subject)
{
	const struct accumulators *accumulators = &table->accumulators;

	return table_is_of_slot_processes(table) &&
	       accumulators->held >= (size_t)TURNS_MAX * table->rows.count &&
	       (subject >= accumulators->count || !accumulators->accumulator[subject].total);
}

/* What the files of a service say is its own alone: a limit of "other" would be nobody's. */
static int subject_of(const struct table *table, const struct snapshot *snapshot, uint32_t row)
{
	enum subject_kind kind = table->schema.subject.kind;

	if (table->fields && kind == SUBJECT_SERVICE && !snapshot_is_shown(snapshot, row))
		return -1;
	return kind_of(kind)->resolve(snapshot, row);
}

/* Entry `at` is that of a row of services or slots. */
int table_read_row(struct table *table, const struct snapshot *snapshot, uint32_t row, uint32_t at,
		   struct error *error)
{
	enum subject_kind kind = table->schema.subject.kind;
	int subject = subject_of(table, snapshot, row);
	struct accumulator *accumulator, *counters;
	bool is_new;

	if (kind == SUBJECT_SERVICE && snapshot_held(snapshot, row))
		return 0;
	if (subject >= 0 && is_full(table, (size_t)subject)) {
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
	counters = growth_to(table, snapshot, row, accumulator, is_new);
	accumulator->begins |=
		is_new && table->elapsed_ns && counters == accumulator && kind == SUBJECT_SERVICE;
	if (feed(table, at, accumulator, counters) && kind == SUBJECT_SERVICE)
		snapshot_notable(snapshot, row);
	return 0;
}

/* What was caught up with may be of subjects that have left since. */
static void drop_strangers(struct table *table, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (table->accumulators.accumulator[i].generation !=
		    snapshot->subjects.subject[i].generation)
			table->accumulators.accumulator[i].fed = false;
}

/* Names come and go, and each may have had series here. A process that had a slot gets no other. */
static void forget_gone(struct table *table, const struct snapshot *snapshot)
{
	bool any = table_is_of_slot_processes(table);

	for (size_t i = 0; i < table->accumulators.count; i++)
		if (!table->accumulators.accumulator[i].fed &&
		    (any || !snapshot->subjects.subject[i].used))
			accumulators_forget(&table->accumulators, i);
}

/* Of rows that may have gone to others: it may be of two, or of others than it seems. */
static void forget_growth(struct table *table, const struct snapshot *snapshot)
{
	if (table->schema.subject.via[0]) {
		slots_forget_growth(table, snapshot);
		return;
	}
	for (uint32_t row = 0; row < table->rows.count; row++)
		if (table->schema.subject.kind == SUBJECT_PROCESS || !snapshot->states[row].fixed)
			table_remember(table, row);
}

struct reading {
	struct table *table;
	const struct snapshot *snapshot;
};

static int take_row(void *to, const struct source_row *row, struct error *error)
{
	const struct reading *r = to;
	uint32_t number = *(const uint32_t *)row->key;

	return table_read_row(r->table, r->snapshot, number, number, error);
}

static int read_source(struct table *table, const struct snapshot *snapshot, struct error *error)
{
	struct reading reading = { .table = table, .snapshot = snapshot };

	if (table->schema.subject.kind == SUBJECT_KEY)
		return keys_read(table, snapshot, error);
	if (table->schema.subject.via[0])
		return slots_read(table, snapshot, error);
	return rows_each(&table->rows, take_row, &reading, error);
}

static int read_rows(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
		     struct error *error)
{
	int status;

	if (table->caught_up)
		accumulators_continue(&table->accumulators, &table->schema);
	else /* What came before the first reading is of no whole interval. */
		accumulators_begin(&table->accumulators, &table->schema, table->elapsed_ns > 0);
	if (table->stale && table->schema.subject.kind != SUBJECT_KEY)
		forget_growth(table, snapshot);
	table->elapsed_ns = table->read_ns ? now_ns - table->read_ns : 0;
	status = read_source(table, snapshot, error);
	table->stale = false;
	return status;
}

int table_catch_up(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
		   struct error *error)
{
	int status = read_rows(table, snapshot, now_ns, error);

	table->caught_up = true;
	return status;
}

void table_miss(struct table *table)
{
	table->stale = true;
}

/* Are its accumulators those of the subjects of services and processes? */
static bool is_of_services(const struct table *table)
{
	return table->schema.subject.kind == SUBJECT_SERVICE ||
	       table->schema.subject.kind == SUBJECT_PROCESS;
}

void table_fetch(struct table *table, uint64_t now_ns)
{
	if (!table->rows.text)
		return;
	table->fetched_ns = now_ns;
	text_source_fetch(table->rows.text);
}

bool table_trouble(struct table *table, struct error *ret_trouble)
{
	if (table->rows.text)
		return text_source_trouble(table->rows.text, ret_trouble);
	return keys_trouble(table, ret_trouble);
}

static void mark_absent(struct table *table)
{
	for (uint32_t i = 0; i < table->schema.column_count && table->rows.text; i++)
		table->schema.columns[i].is_absent = !text_source_has(table->rows.text, i);
}

int table_read(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
	       struct error *error)
{
	int status;

	if (table->fetched_ns)
		now_ns = table->fetched_ns;
	status = read_rows(table, snapshot, now_ns, error);
	table->read_ns = now_ns;
	mark_absent(table);
	if (table->caught_up && is_of_services(table))
		drop_strangers(table, snapshot);
	table->caught_up = false;
	if (status == 0) {
		slots_turn(table, snapshot);
		tails_write(table);
	}
	if (is_of_services(table))
		forget_gone(table, snapshot);
	if (table->schema.subject.kind == SUBJECT_KEY)
		keys_end(table, now_ns);
	if (status == 0 && table->schema.rank && table->schema.subject.kind == SUBJECT_PROCESS)
		rank(table, snapshot);
	return status;
}

void table_done(struct table *table)
{
	rows_done(&table->rows);
	keys_done(&table->keys);
	slots_done(&table->slots);
	accumulators_done(&table->accumulators);
	mapping_done(&table->previous);
	mapping_done(&table->tails);
	free(table->fields);
	schema_done(&table->schema);
	*table = (struct table){ 0 };
}
