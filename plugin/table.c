/* SPDX-License-Identifier: MIT */
/*
 * Reading: rows from the mapping, their growth since the last reading, added
 * up per subject. Nothing is cleared and no system call is made.
 */
#include "table.h"

#include "../bpf/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
	if (status == 0 && (bpf_map__type(map) != BPF_MAP_TYPE_ARRAY ||
			    !(bpf_map__map_flags(map) & BPF_F_MMAPABLE)))
		status = error_set(error, -EINVAL,
				   "map %s: METRIC tags need an array with "
				   "BPF_F_MMAPABLE",
				   name);
	if (status) {
		table_done(table);
		return status;
	}
	return 1;
}

static uint64_t read_cell(const struct column *column, const unsigned char *row, uint32_t i)
{
	const unsigned char *at = row + column->offset + (size_t)i * column->cell_size;

	switch (column->cell_size) {
	case 8:
		return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
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

static bool is_gauge(const struct column *column)
{
	return column->kind == COLUMN_INTEGER && column->ds == SOURCE_GAUGE && !column->tag.rate;
}

static const unsigned char *row_at(const struct table *table, uint32_t row)
{
	return table->rows + (size_t)row * table->stride;
}

static void remember(const struct table *table, uint32_t row)
{
	const struct schema *schema = &table->schema;
	uint64_t *previous = table->previous + (size_t)row * schema->cells;

	for (size_t c = 0; c < schema->column_count; c++)
		for (uint32_t i = 0; i < schema->columns[c].cells; i++)
			previous[schema->columns[c].cell + i] =
				read_cell(&schema->columns[c], row_at(table, row), i);
}

int table_start(struct table *table, struct error *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *rows;

	table->row_count = bpf_map__max_entries(table->map);
	table->stride = ((size_t)bpf_map__value_size(table->map) + 7) / 8 * 8;
	table->mapping_size = (table->stride * table->row_count + page - 1) / page * page;
	rows = mmap(NULL, table->mapping_size, PROT_READ, MAP_SHARED, bpf_map__fd(table->map), 0);
	if (rows == MAP_FAILED)
		return error_set(error, -errno, "map %s: cannot map its rows: %s", table->name,
				 strerror(errno));
	table->rows = rows;
	table->previous =
		calloc((size_t)table->row_count * table->schema.cells + 1, sizeof(uint64_t));
	if (!table->previous)
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows", table->name,
				 table->row_count);
	for (uint32_t row = 0; row < table->row_count; row++)
		remember(table, row);
	return 0;
}

/* The tally of a place, empty if it was another subject's, which ret_new tells;
 * NULL: no memory. */
static struct tally *tally_at(struct table *table, size_t place, uint64_t generation, bool *ret_new)
{
	size_t cells = table->schema.cells;
	struct tally *grown, *tally;

	if (place >= table->tally_count) {
		grown = reallocarray(table->tallies, place + 1, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + table->tally_count, 0,
		       (place + 1 - table->tally_count) * sizeof(*grown));
		table->tallies = grown;
		table->tally_count = place + 1;
	}
	tally = &table->tallies[place];
	*ret_new = !tally->total || tally->generation != generation;
	if (!tally->total) {
		tally->total = calloc(2 * cells + 1, sizeof(uint64_t));
		if (!tally->total)
			return NULL;
		tally->window = tally->total + cells;
	} else if (tally->generation != generation) {
		memset(tally->total, 0, 2 * cells * sizeof(uint64_t));
	}
	tally->generation = generation;
	return tally;
}

/* Adds a row, its gauges to one tally and what its counters grew by to another;
 * true if that was notable. */
static bool feed(const struct table *table, uint32_t row, struct tally *gauges,
		 struct tally *counters)
{
	const struct schema *schema = &table->schema;
	uint64_t *previous = table->previous + (size_t)row * schema->cells;
	double elapsed_s = (double)table->elapsed_ns / 1e9;
	bool notable = false;

	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		for (uint32_t i = 0; i < column->cells; i++) {
			uint32_t cell = column->cell + i;
			uint64_t now = read_cell(column, row_at(table, row), i);
			uint64_t grown = growth(column, now, previous[cell]);

			previous[cell] = now;
			if (is_gauge(column)) {
				gauges->window[cell] += extend(column, now);
				continue;
			}
			counters->window[cell] += grown;
			counters->total[cell] += grown;
			notable |= column->tag.notable && elapsed_s > 0 &&
				   (double)grown >= (double)column->tag.notable * elapsed_s;
		}
	}
	gauges->fed = true;
	return notable;
}

/* The place of the subject of a row, -1: nobody's. */
static int place_of(const struct table *table, const struct services *services, uint32_t row)
{
	switch (table->schema.subject) {
	case SUBJECT_SERVICE:
		return services_place(services, row);
	case SUBJECT_PROCESS:
		return services_slot_place(services, row);
	default:
		return (int)row;
	}
}

struct candidate {
	size_t place;
	unsigned group;
	uint64_t growth;
};

static int by_group_and_growth(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->growth != b->growth)
		return a->growth > b->growth ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* The first rate of the table, or its first column. */
static uint32_t rank_cell(const struct schema *schema)
{
	for (size_t c = 0; c < schema->column_count; c++)
		if (schema->columns[c].tag.rate)
			return schema->columns[c].cell;
	return 0;
}

/* Of subjects that are ranked, only the first top_n of each group stay. */
static void rank(struct table *table, const struct services *services)
{
	struct candidate *list = calloc(table->tally_count + 1, sizeof(*list));
	uint32_t cell = rank_cell(&table->schema);
	size_t count = 0, in_group = 0;

	/* Without memory all are dispatched. */
	if (!list)
		return;
	for (size_t i = 0; i < table->tally_count; i++)
		if (table->tallies[i].fed)
			list[count++] = (struct candidate){
				i,
				services->subjects.place[i].rank_group,
				table->tallies[i].window[cell],
			};
	qsort(list, count, sizeof(*list), by_group_and_growth);
	for (size_t i = 0; i < count; i++) {
		unsigned top_n = services->subjects.place[list[i].place].top_n;

		in_group = i && list[i].group == list[i - 1].group ? in_group + 1 : 0;
		if (top_n && in_group >= top_n)
			table->tallies[list[i].place].fed = false;
	}
	free(list);
}

/* A command name that has a series from now on starts it at zero: the first value
 * of a counter shows no rate, so the growth until now stays with the others. */
static bool read_row(struct table *table, struct services *services, uint32_t row, size_t place)
{
	bool of_service = table->schema.subject == SUBJECT_SERVICE, is_new;
	size_t other = of_service ? (size_t)services_place(services, SERVICE_OTHER) : 0;
	uint64_t generation = table->schema.subject == SUBJECT_PROBE
				      ? 0
				      : services->subjects.place[place].generation;
	struct tally *tally = tally_at(table, place, generation, &is_new), *growth_to;

	if (!tally)
		return false;
	growth_to =
		of_service && is_new && !services->rows[row].fixed ? &table->tallies[other] : tally;
	if (feed(table, row, tally, growth_to) && of_service)
		services_notable(services, row);
	return true;
}

int table_read(struct table *table, struct services *services, uint64_t now_ns, struct error *error)
{
	table->elapsed_ns = table->read_ns ? now_ns - table->read_ns : 0;
	table->read_ns = now_ns;
	for (size_t i = 0; i < table->tally_count; i++) {
		table->tallies[i].fed = false;
		if (table->tallies[i].window)
			memset(table->tallies[i].window, 0, table->schema.cells * sizeof(uint64_t));
	}
	for (uint32_t row = 0; row < table->row_count; row++) {
		int place = place_of(table, services, row);

		if (place < 0)
			remember(table, row);
		else if (!read_row(table, services, row, (size_t)place))
			return error_set(error, -ENOMEM, "map %s: no memory for subjects",
					 table->name);
	}
	if (table->schema.subject == SUBJECT_PROCESS)
		rank(table, services);
	return 0;
}

void table_done(struct table *table)
{
	if (table->rows)
		munmap((void *)table->rows, table->mapping_size);
	for (size_t i = 0; i < table->tally_count; i++)
		free(table->tallies[i].total);
	free(table->tallies);
	free(table->previous);
	schema_done(&table->schema);
	*table = (struct table){ 0 };
}
