/* SPDX-License-Identifier: MIT */
/*
 * Reading: rows from the mapping, their growth since the last reading, added
 * up per subject. Nothing is cleared and no system call is made.
 */
#include "table.h"

#include "object/budget.h"

#include "bpf/lib/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int table_open(struct table *table, struct bpf_map *map, const struct btf *btf, type_lookup *lookup,
	       struct error *error)
{
	const char *name = bpf_map__name(map);
	int status;

	*table = (struct table){ .map = map };
	snprintf(table->name, sizeof(table->name), "%s", name);
	if (bpf_map__is_internal(map) || !bpf_map__btf_value_type_id(map))
		return 0;
	status = schema_read(&table->schema, btf, name, bpf_map__btf_value_type_id(map), lookup,
			     error);
	if (status || table->schema.column_count == 0)
		return status;
	status = schema_subject(btf, name, &table->schema.subject, error);
	if (status == 0 && table->schema.subject.kind == SUBJECT_PROCESS && !table->schema.rank)
		status = error_set(error, -EINVAL,
				   "map %s: no member has the word rank, by which TopN chooses "
				   "among processes",
				   name);
	if (status) {
		table_done(table);
		return status;
	}
	return 1;
}

int table_resize(struct table *table, const struct row_counts *counts, struct bpf_object *object,
		 struct error *error)
{
	return rows_resize(&table->rows, table->map, &table->schema.subject, counts, object, error);
}

uint64_t table_memory(const struct table *table)
{
	uint64_t cells = size_sum(table->schema.cells, accumulator_cells(&table->schema));

	return size_product(size_product(table->rows.count, cells), sizeof(uint64_t));
}

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

/* A gauge as it stands, an integer of less than 64 bits with its sign. */
static uint64_t extend(const struct column *column, uint64_t cell)
{
	unsigned shift = 64 - 8 * column->cell_size;

	return column->is_signed && shift ? (uint64_t)((int64_t)(cell << shift) >> shift) : cell;
}

/* A counter of 32 bits wraps at 32 bits. */
static uint64_t growth(const struct column *column, uint64_t now, uint64_t before)
{
	unsigned shift = 64 - 8 * column->cell_size;

	return (now - before) << shift >> shift;
}

/* Adds a column as one shard has it. */
static void add_shard(const struct column *column, const unsigned char *row, uint64_t *cells)
{
	/* Nearly all cells are such, of histograms: this loop is what a reading takes. */
	if (column->cell_size == sizeof(uint64_t)) {
		const uint64_t *at = (const uint64_t *)(row + column->offset);

		for (uint32_t i = 0; i < column->cells; i++)
			cells[i] += __atomic_load_n(&at[i], __ATOMIC_RELAXED);
		return;
	}
	for (uint32_t i = 0; i < column->cells; i++) {
		uint64_t cell = read_narrow(column, row, i);

		cells[i] += column->is_gauge ? extend(column, cell) : cell;
	}
}

/* A row, all shards of it. */
static void read_cells(const struct table *table, uint32_t row, uint64_t *ret_cells)
{
	const struct schema *schema = &table->schema;

	memset(ret_cells, 0, schema->cells * sizeof(*ret_cells));
	for (uint32_t shard = 0; shard < table->rows.shards; shard++) {
		const unsigned char *at = rows_at(&table->rows, row, shard);

		for (size_t c = 0; c < schema->column_count; c++)
			add_shard(&schema->columns[c], at, ret_cells + schema->columns[c].cell);
	}
}

static uint64_t *previous_of(const struct table *table, uint32_t row)
{
	return table->previous + (size_t)row * table->schema.cells;
}

static void remember(const struct table *table, uint32_t row)
{
	read_cells(table, row, previous_of(table, row));
}

int table_start(struct table *table, struct error *error)
{
	int status = rows_start(&table->rows, error);

	if (status)
		return status;
	/* A row more, for what is read now. */
	table->previous =
		calloc(((size_t)table->rows.count + 1) * table->schema.cells, sizeof(uint64_t));
	if (!table->previous)
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows", table->name,
				 table->rows.count);
	for (uint32_t row = 0; row < table->rows.count; row++)
		remember(table, row);
	return 0;
}

/* What a cell has grown by since it was last read. A counter that falls, as one of another program's
 * that is set back, goes on from there. The kernel may move a sample
 * to another bucket: then the one it was in counts no more until it is past what
 * has been counted of it, so that sums stay right. */
static uint64_t take_growth(const struct column *column, uint64_t now, uint64_t *previous)
{
	uint64_t grown = growth(column, now, *previous);
	bool fell = column->kind == COLUMN_INTEGER && (int64_t)grown < 0 &&
		    (now < *previous || column->is_signed);

	if (column->kind == COLUMN_HIST && (int64_t)grown < 0)
		return 0;
	*previous = now;
	return fell ? 0 : grown;
}

/* Adds a row, its gauges to one accumulator and what its counters grew by to another;
 * true if that was notable. */
static bool feed(const struct table *table, uint32_t row, struct accumulator *gauges,
		 struct accumulator *counters)
{
	const struct schema *schema = &table->schema;
	uint64_t *previous = previous_of(table, row), *now = previous_of(table, table->rows.count);
	double elapsed_s = (double)table->elapsed_ns / 1e9;
	bool notable = false;

	read_cells(table, row, now);
	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		for (uint32_t i = 0; i < column->cells; i++) {
			uint32_t cell = column->cell + i;
			uint64_t grown = take_growth(column, now[cell], &previous[cell]);

			gauges->counted |= now[cell] != 0;
			if (column->is_gauge) {
				gauges->window[cell] += now[cell];
				continue;
			}
			if (!grown)
				continue;
			counters->window[cell] += grown;
			counters->total[cell] += grown;
			notable |= column->tag.notable && elapsed_s > 0 &&
				   (double)grown >= (double)column->tag.notable * elapsed_s;
		}
	}
	gauges->fed = true;
	return notable;
}

/* The subject of a row, -1: nobody's. */
static int subject_of(const struct table *table, const struct lifecycle *lifecycle, uint32_t row)
{
	switch (table->schema.subject.kind) {
	case SUBJECT_SERVICE:
		return lifecycle_subject(lifecycle, row);
	case SUBJECT_PROCESS:
		return lifecycle_process_subject(lifecycle, row);
	default:
		return (int)row;
	}
}

struct candidate {
	size_t subject;
	unsigned group;
	uint64_t rank;
};

static int by_group_and_rank(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->subject < b->subject ? -1 : a->subject > b->subject;
}

/* In the order of the numbers, also of those with a sign. */
static uint64_t rank_of(const struct column *column, const struct accumulator *accumulator)
{
	uint64_t n = accumulator->window[column->cell];

	return column->is_gauge && column->is_signed ? n ^ 1ULL << 63 : n;
}

/* Of subjects that are ranked, only the first top_n of each group stay. */
static void rank(struct table *table, const struct lifecycle *lifecycle)
{
	const struct column *column = &table->schema.columns[table->schema.rank - 1];
	struct candidate *list = calloc(table->accumulators.count + 1, sizeof(*list));
	size_t count = 0, in_group = 0;

	/* Without memory all are dispatched. */
	if (!list)
		return;
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (table->accumulators.accumulator[i].fed)
			list[count++] = (struct candidate){
				i,
				lifecycle->subjects.subject[i].rank_group,
				rank_of(column, &table->accumulators.accumulator[i]),
			};
	qsort(list, count, sizeof(*list), by_group_and_rank);
	for (size_t i = 0; i < count; i++) {
		unsigned top_n = lifecycle->subjects.subject[list[i].subject].top_n;

		in_group = i && list[i].group == list[i - 1].group ? in_group + 1 : 0;
		if (top_n && in_group >= top_n)
			table->accumulators.accumulator[list[i].subject].fed = false;
	}
	free(list);
}

/* A command name that has a series from now on starts it at zero: the first value
 * of a counter shows no rate, so the growth until now stays with the others. Not
 * so in tables of slots: it may have had series of others for long. */
static struct accumulator *growth_to(struct table *table, const struct lifecycle *lifecycle,
				     uint32_t row, struct accumulator *own, bool is_new)
{
	bool by_service = table->schema.subject.kind == SUBJECT_SERVICE;

	if (!by_service || !is_new || lifecycle->states[row].fixed || table->schema.subject.via[0])
		return own;
	return &table->accumulators.accumulator[lifecycle_subject(lifecycle, SERVICE_OTHER)];
}

/* Adds entry `at` of the table, which is that of a row of services or slots. */
static int read_row(struct table *table, struct lifecycle *lifecycle, uint32_t row, uint32_t at,
		    struct error *error)
{
	enum subject_kind kind = table->schema.subject.kind;
	int subject = subject_of(table, lifecycle, row);
	struct accumulator *accumulator;
	bool is_new;

	if (subject < 0) {
		remember(table, at);
		return 0;
	}
	accumulator = accumulators_at(
		&table->accumulators, &table->schema, (size_t)subject,
		kind == SUBJECT_PROBE ? 0 : lifecycle->subjects.subject[subject].generation,
		&is_new);
	if (!accumulator)
		return error_set(error, -ENOMEM, "map %s: no memory for subjects", table->name);
	if (feed(table, at, accumulator, growth_to(table, lifecycle, row, accumulator, is_new)) &&
	    kind == SUBJECT_SERVICE)
		lifecycle_notable(lifecycle, row);
	return 0;
}

/* A service that is gone gives its slot back: it is closed, read once more, and
 * what it holds then is the base line of its next owner. */
static int read_slot(struct table *table, struct lifecycle *lifecycle, uint32_t row, uint32_t slot,
		     struct error *error)
{
	bool gone = lifecycle_gone(lifecycle, row);
	int status;

	if (gone)
		rows_close_slot(&table->rows, row);
	status = read_row(table, lifecycle, row, slot, error);
	if (gone) {
		remember(table, slot);
		rows_free_slot(&table->rows, slot);
	}
	return status;
}

/* Slot 0 is what has no slot of its own, and often nothing. */
static int read_slots(struct table *table, struct lifecycle *lifecycle, struct error *error)
{
	size_t other = (size_t)lifecycle_subject(lifecycle, SERVICE_OTHER);
	int status = read_row(table, lifecycle, SERVICE_OTHER, 0, error);

	if (status == 0)
		table->accumulators.accumulator[other].fed =
			table->accumulators.accumulator[other].counted;
	for (uint32_t row = SERVICE_OTHER + 1; row < lifecycle->row_count && status == 0; row++) {
		uint32_t slot = rows_slot(&table->rows, row);

		if (slot)
			status = read_slot(table, lifecycle, row, slot, error);
		else if (lifecycle_gone(lifecycle, row))
			rows_forget_refusal(&table->rows, row);
	}
	return status;
}

/* What was caught up with may be of subjects that have left since. */
static void drop_strangers(struct table *table, const struct lifecycle *lifecycle)
{
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (table->accumulators.accumulator[i].generation !=
		    lifecycle->subjects.subject[i].generation)
			table->accumulators.accumulator[i].fed = false;
}

/* Names come and go, and each may have had series here. */
static void forget_gone(struct table *table, const struct lifecycle *lifecycle)
{
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (!table->accumulators.accumulator[i].fed && !lifecycle->subjects.subject[i].used)
			accumulator_forget(&table->accumulators.accumulator[i]);
}

/* Of rows that may have gone to others: it may be of two, or of others than it seems. */
static void forget_growth(const struct table *table, const struct lifecycle *lifecycle)
{
	bool by_slot = table->schema.subject.via[0];
	uint32_t count = by_slot ? lifecycle->row_count : table->rows.count;

	for (uint32_t row = 0; row < count; row++) {
		uint32_t at = by_slot ? rows_slot(&table->rows, row) : row;

		if (table->schema.subject.kind == SUBJECT_PROCESS ||
		    (!lifecycle->states[row].fixed && (at || !by_slot)))
			remember(table, at);
	}
}

static int read_rows(struct table *table, struct lifecycle *lifecycle, uint64_t now_ns,
		     struct error *error)
{
	int status = 0;

	if (table->caught_up)
		accumulators_continue(&table->accumulators, &table->schema);
	else /* What came before the first reading is of no whole interval. */
		accumulators_begin(&table->accumulators, &table->schema, table->elapsed_ns > 0);
	if (table->stale)
		forget_growth(table, lifecycle);
	table->stale = false;
	table->elapsed_ns = table->read_ns ? now_ns - table->read_ns : 0;
	if (table->schema.subject.via[0])
		return read_slots(table, lifecycle, error);
	for (uint32_t row = 0; row < table->rows.count && status == 0; row++)
		status = read_row(table, lifecycle, row, row, error);
	return status;
}

int table_catch_up(struct table *table, struct lifecycle *lifecycle, uint64_t now_ns,
		   struct error *error)
{
	int status = read_rows(table, lifecycle, now_ns, error);

	table->caught_up = true;
	return status;
}

void table_miss(struct table *table)
{
	table->stale = true;
}

int table_read(struct table *table, struct lifecycle *lifecycle, uint64_t now_ns,
	       struct error *error)
{
	int status = read_rows(table, lifecycle, now_ns, error);

	table->read_ns = now_ns;
	if (table->caught_up && table->schema.subject.kind != SUBJECT_PROBE)
		drop_strangers(table, lifecycle);
	table->caught_up = false;
	if (table->schema.subject.kind != SUBJECT_PROBE)
		forget_gone(table, lifecycle);
	if (status == 0 && table->schema.rank && table->schema.subject.kind == SUBJECT_PROCESS)
		rank(table, lifecycle);
	return status;
}

void table_done(struct table *table)
{
	rows_done(&table->rows);
	accumulators_done(&table->accumulators);
	free(table->previous);
	schema_done(&table->schema);
	*table = (struct table){ 0 };
}
