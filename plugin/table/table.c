/* SPDX-License-Identifier: MIT */
/*
 * Reads a table: the growth of its rows since the last reading, summed per subject. Counters are
 * never reset, and mapped rows are read without a system call.
 */
#include "table.h"

#include "keys.h"
#include "kind.h"
#include "object/budget.h"
#include "rank.h"
#include "slots.h"
#include "source/source_text.h"
#include "table_row.h"
#include "tail_percentile.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many names may have series without a Rows line. Rows of an array per CPU, and keys that are
 * only a CPU, cannot become more than there are CPUs; other keys are not bounded. */
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

uint64_t table_memory(const struct table *table)
{
	uint64_t of_subject =
		size_product(accumulator_cells(&table->schema),
			     table_is_of_slot_processes(table) ? TABLE_SLOT_OWNERS_MAX : 1);
	uint64_t cells = size_sum(table->schema.cells, of_subject);
	uint64_t own = size_sum(rows_memory(&table->rows), tails_memory(table));

	if (table->schema.subject.kind == SUBJECT_KEY)
		return size_sum(own, keys_memory(table));
	return size_sum(own,
			size_product(size_product(table->rows.count, cells), sizeof(uint64_t)));
}

bool table_follows(const struct table *table)
{
	/* Files are only read at readings, for the services that own the rows at that time. */
	return !table->fields && row_kind_of(table->schema.subject.kind)->follows(table);
}

bool table_gives_rows(const struct table *table)
{
	return table->schema.subject.via[0] || table->schema.subject.kind == SUBJECT_KEY;
}

int table_start(struct table *table, struct error *error)
{
	int status = rows_start(&table->rows, error);

	status = status ?: tails_start(table, error);
	if (status)
		return status;
	if (table->schema.subject.kind == SUBJECT_KEY)
		return keys_start(table, error);
	/* The last row is a buffer for the row that is being read. */
	status = mapping_make(&table->previous, ((size_t)table->rows.count + 1) *
							table->schema.cells * sizeof(uint64_t));
	if (status)
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows", table->name,
				 table->rows.count);
	for (uint32_t row = 0; row < table->rows.count; row++)
		table_remember_first(table, row);
	return slots_start(table, error);
}

/* Rows that table_catch_up() read may belong to subjects that have been removed since. */
static void withhold_removed(struct table *table, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (table->accumulators.accumulator[i].generation !=
		    snapshot->subjects.subject[i].generation)
			table->accumulators.accumulator[i].fed = false;
}

/* Frees accumulators of subjects that no longer exist. A process never gets a second slot, so its
 * accumulator is freed when it has added nothing. */
static void forget_unused(struct table *table, const struct snapshot *snapshot)
{
	bool any = table_is_of_slot_processes(table);

	for (size_t i = 0; i < table->accumulators.count; i++)
		if (!table->accumulators.accumulator[i].fed &&
		    (any || !snapshot->subjects.subject[i].used))
			accumulators_forget(&table->accumulators, i);
}

/* Discards the growth of rows that may have changed owner without a table_catch_up(). */
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

struct table_reading {
	struct table *table;
	const struct snapshot *snapshot;
};

static int read_array_row(void *to, const struct source_row *row, struct error *error)
{
	const struct table_reading *r = to;
	uint32_t number = *(const uint32_t *)row->key;

	return table_read_row(r->table, r->snapshot, number, number, error);
}

static int read_table_rows(struct table *table, const struct snapshot *snapshot,
			   struct error *error)
{
	struct table_reading reading = { .table = table, .snapshot = snapshot };

	if (table->schema.subject.kind == SUBJECT_KEY)
		return keys_read(table, snapshot, error);
	if (table->schema.subject.via[0])
		return slots_read(table, snapshot, error);
	return rows_each(&table->rows, read_array_row, &reading, error);
}

static int read_growth_of_rows(struct table *table, const struct snapshot *snapshot,
			       uint64_t now_ns, struct error *error)
{
	int status;

	if (table->caught_up)
		accumulators_continue(&table->accumulators, &table->schema);
	else /* Growth before the first reading does not cover a whole interval. */
		accumulators_begin(&table->accumulators, &table->schema, table->elapsed_ns > 0);
	if (table->stale && table->schema.subject.kind != SUBJECT_KEY)
		forget_growth(table, snapshot);
	table->elapsed_ns = table->read_ns ? now_ns - table->read_ns : 0;
	status = read_table_rows(table, snapshot, error);
	table->stale = false;
	return status;
}

int table_catch_up(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
		   struct error *error)
{
	int status = read_growth_of_rows(table, snapshot, now_ns, error);

	table->caught_up = true;
	return status;
}

void table_miss(struct table *table)
{
	table->stale = true;
}

/* Are its accumulators indexed by subjects of services and processes? */
static bool is_of_services(const struct table *table)
{
	return table->schema.subject.kind == SUBJECT_SERVICE ||
	       table->schema.subject.kind == SUBJECT_PROCESS;
}

bool table_has_files(const struct table *table)
{
	return table->rows.text != NULL;
}

void table_fetch(struct table *table, const struct snapshot *snapshot, uint64_t now_ns)
{
	if (!table->rows.text)
		return;
	table->fetched_ns = now_ns;
	text_source_fetch(table->rows.text, snapshot);
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
	status = read_growth_of_rows(table, snapshot, now_ns, error);
	table->read_ns = now_ns;
	mark_absent(table);
	if (table->caught_up && is_of_services(table))
		withhold_removed(table, snapshot);
	table->caught_up = false;
	if (status == 0) {
		slots_balance(table, snapshot);
		tails_write(table);
	}
	if (is_of_services(table))
		forget_unused(table, snapshot);
	if (table->schema.subject.kind == SUBJECT_KEY)
		keys_end(table, now_ns);
	if (status == 0 && table->schema.rank && table->schema.subject.kind == SUBJECT_PROCESS)
		rank_subjects(table, snapshot);
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
