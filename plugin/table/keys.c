/* SPDX-License-Identifier: MIT */
/*
 * Reads rows that are named by their keys. Each key is remembered with the cells of its row. A
 * program may delete a key and create it again: if a cell has fallen, its growth is counted from
 * zero.
 */
#include "keys.h"

#include "cells.h"
#include "key_name.h"
#include "object/budget.h"
#include "schema/label_kind.h"
#include "service/cgroup_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPARE 2 /* entries per row, so that new keys find room before deleted ones are forgotten */
#define FORGOTTEN_READINGS 13
#define NEVER UINT64_MAX

struct key_reading {
	struct table *table;
	const struct snapshot *snapshot;
	uint32_t names; /* generation of the labels' names */
};

static size_t entries_most(const struct rows *rows)
{
	return (rows_stay(rows) ? 1 : SPARE) * (size_t)rows_most(rows);
}

static size_t names_most(const struct rows *rows)
{
	return SPARE * ((size_t)rows_most(rows) + 1);
}

/* Assumes that each entry has a name with cells of its own. */
uint64_t keys_memory(const struct table *table)
{
	const struct schema *schema = &table->schema;
	uint64_t cells = size_sum(schema->row_cells, accumulator_cells(schema));
	uint64_t index = 4 * sizeof(uint32_t);
	uint64_t entry = sizeof(struct key_entry) + schema->labels.key_size + index;
	uint64_t names = size_product(names_most(&table->rows), sizeof(struct key_name) + index);

	entry = size_sum(entry, size_product(cells, sizeof(uint64_t)));
	return size_sum(size_product(entries_most(&table->rows), entry), names);
}

/* --- entries --- */

struct wanted_key {
	const void *key;
	int cpu;
	uint32_t size;
};

static bool is_same_key(const void *of, uint32_t number, const void *wanted)
{
	const struct key_entry *entry = &((const struct keys *)of)->entry[number];
	const struct wanted_key *w = wanted;

	return entry->cpu == w->cpu && !memcmp(entry->key, w->key, w->size);
}

static uint64_t hash_key(const struct keys *keys, const struct wanted_key *w)
{
	return index_hash(&keys->by_key, (uint64_t)w->cpu, w->key, w->size);
}

static void entry_done(struct key_entry *entry)
{
	free(entry->previous);
	*entry = (struct key_entry){ 0 };
}

static void add_to_index(struct keys *keys, uint32_t i, uint32_t key_size)
{
	const struct wanted_key w = { keys->entry[i].key, keys->entry[i].cpu, key_size };

	index_add(&keys->by_key, hash_key(keys, &w), i);
}

/* Forgets keys that have been absent for more than this number of readings. */
static void forget_absent(struct table *table, uint64_t readings)
{
	struct keys *keys = &table->keys;
	size_t count = 0;

	for (size_t i = 0; i < keys->entry_count; i++)
		if (keys->readings - keys->entry[i].seen > readings)
			entry_done(&keys->entry[i]);
		else
			keys->entry[count++] = keys->entry[i];
	if (count == keys->entry_count)
		return;
	keys->entry_count = count;
	index_clear(&keys->by_key);
	for (size_t i = 0; i < count; i++)
		add_to_index(keys, (uint32_t)i, table->schema.labels.key_size);
}

/* The cells and the key are one allocation. NULL: no room, or no memory. */
static struct key_entry *add_entry(struct table *table, const struct wanted_key *w)
{
	struct keys *keys = &table->keys;
	size_t cells = table->schema.row_cells * sizeof(uint64_t);
	struct key_entry *entry = &keys->entry[keys->entry_count];

	if (keys->entry_count == keys->entry_max) {
		keys->is_full = true;
		return NULL;
	}
	*entry = (struct key_entry){ .name = INDEX_NONE, .subject = -1, .cpu = w->cpu };
	entry->seen = NEVER;
	entry->previous = calloc(1, cells + w->size);
	if (!entry->previous)
		return NULL;
	entry->key = (unsigned char *)entry->previous + cells;
	memcpy(entry->key, w->key, w->size);
	add_to_index(keys, (uint32_t)keys->entry_count++, w->size);
	return entry;
}

static struct key_entry *entry_of(struct table *table, const struct source_row *row)
{
	struct keys *keys = &table->keys;
	const struct wanted_key w = { row->key, row->cpu, table->schema.labels.key_size };
	uint32_t number = index_find(&keys->by_key, hash_key(keys, &w), is_same_key, keys, &w);

	return number == INDEX_NONE ? add_entry(table, &w) : &keys->entry[number];
}

/* --- growth --- */

static bool any_fallen(const struct column *column, const uint64_t *now, const uint64_t *previous)
{
	uint32_t cells = column->kind == COLUMN_BUCKETS ? column->width : 1;

	for (uint32_t i = column->at; i < column->at + cells; i++)
		if (now[i] < previous[i])
			return true;
	return false;
}

/* Has the key been deleted and created again? Only 64-bit cells tell: smaller counters may wrap,
 * and samples of histograms may move between buckets. */
static bool has_fallen(const struct schema *schema, const uint64_t *now, const uint64_t *previous)
{
	for (size_t c = 0; c < schema->column_count; c++) {
		const struct column *column = &schema->columns[c];

		if (!column->is_gauge && column->kind != COLUMN_HIST &&
		    column->cell_size == sizeof(uint64_t) && any_fallen(column, now, previous))
			return true;
	}
	return false;
}

static const struct column *ranking(const struct schema *schema)
{
	return &schema->columns[schema->rank ? schema->rank - 1 : 0];
}

/* Growth of the ranking column, or of the first one; for moments and histograms, of the number of
 * samples. */
static uint64_t ranking_growth(const struct schema *schema, const uint64_t *now,
			       const uint64_t *previous)
{
	const struct column *column = ranking(schema);
	uint64_t sum = 0;

	for (uint32_t i = column->at; i < column->at + column_counts(column); i++)
		if (column->is_gauge)
			sum += now[i];
		else if (now[i] > previous[i])
			sum += now[i] - previous[i];
	return sum;
}

static bool are_cells_equal(const struct schema *schema, const uint64_t *a, const uint64_t *b)
{
	return !memcmp(a, b, schema->row_cells * sizeof(*a));
}

/* A gauge is dispatched even if its value does not change. */
static bool has_gauge(const struct schema *schema, const uint64_t *now)
{
	for (size_t c = 0; c < schema->column_count; c++)
		if (schema->columns[c].is_gauge && now[schema->columns[c].at])
			return true;
	return false;
}

static void remember_entry(const struct table *table, struct key_entry *entry)
{
	memcpy(entry->previous, table->keys.now, table->schema.row_cells * sizeof(uint64_t));
}

/* --- reading --- */

static const struct label *service_label(const struct table *table)
{
	const struct labels *labels = &table->schema.labels;
	const struct label *label = labels->subject < 0 ? NULL : &labels->label[labels->subject];

	return label && label->kind == label_kind_service() ? label : NULL;
}

bool keys_follow_services(const struct table *table)
{
	return service_label(table) != NULL;
}

/* The row of the key's service; 0, which never changes owner, if it has none. */
static uint32_t find_row(const struct table *table, const struct key_entry *entry)
{
	const struct label *label = service_label(table);
	uint64_t value = label ? label_value(label, entry->key) : 0;

	if (label && label->is_group)
		return cgroup_row(table->keys.cgroup_rows, value);
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* The subject of the key's service; -1: it has none. */
static int subject_of_key(const struct key_reading *r, const struct key_entry *entry)
{
	return service_label(r->table)
		       ? snapshot_service(r->snapshot, entry->row, r->table->asks_for_other)
		       : -1;
}

/* Does it still have its name, and one that is not "other" for lack of room? */
static bool is_entry_named(const struct keys *keys, const struct key_entry *entry)
{
	return entry->name != INDEX_NONE && !keys->name[entry->name].is_other &&
	       keys->name[entry->name].generation == entry->named;
}

/* Names a key that has no name, or whose service or labels may have another one. False: the name is pending, and the
 * growth must wait for it. */
static bool name_entry(const struct key_reading *r, struct key_entry *entry)
{
	const struct keys *keys = &r->table->keys;
	int subject = subject_of_key(r, entry);
	uint64_t generation = subject < 0 ? 0 : r->snapshot->subjects.subject[subject].generation;
	bool nobody = service_label(r->table) && subject < 0;
	enum name_state state = NAME_NONE;
	uint32_t number = INDEX_NONE;

	if ((is_entry_named(keys, entry) || entry->is_left_out) && entry->subject == subject &&
	    entry->generation == generation && entry->names == r->names)
		return true;
	if (!nobody)
		state = key_name_of(r->table, r->snapshot, entry, subject, &number);
	if (state == NAME_PENDING)
		return false;
	entry->subject = subject;
	entry->generation = generation;
	entry->names = r->names;
	entry->is_left_out = !nobody && state == NAME_NONE;
	entry->name = number;
	if (number != INDEX_NONE)
		entry->named = keys->name[number].generation;
	return true;
}

static uint64_t bucket_of(const struct table *table, const struct key_entry *entry)
{
	const struct labels *labels = &table->schema.labels;

	return labels->has_bucket ? label_value(&labels->bucket, entry->key) : 0;
}

/* Does the row contain the sum of values rather than a number of samples? */
static bool is_sum_row(const struct table *table, uint64_t bucket)
{
	const struct column *column = ranking(&table->schema);

	return column->is_spread && buckets_find(column->buckets, bucket) == column->buckets->count;
}

/* Adds the growth of a row to the name that counts for it. */
static int feed_name(const struct key_reading *r, struct key_entry *entry, struct error *error)
{
	struct table *table = r->table;
	struct keys *keys = &table->keys;
	uint64_t grown = ranking_growth(&table->schema, keys->now, entry->previous);
	uint32_t counted = key_name_counted(table, entry->name);
	const struct row_cells cells = { keys->now, entry->previous, bucket_of(table, entry) };
	struct accumulator *accumulator;
	bool is_new;

	if (is_sum_row(table, cells.bucket))
		grown = 0;
	keys->name[entry->name].growth += grown;
	keys->growth += grown;
	if (counted == INDEX_NONE) {
		remember_entry(table, entry);
		return 0;
	}
	keys->name[counted].seen = (uint32_t)keys->readings;
	keys->growth_other += keys->name[counted].is_other ? grown : 0;
	accumulator = accumulators_at(&table->accumulators, &table->schema, counted,
				      keys->name[counted].generation, &is_new);
	if (!accumulator)
		return error_set(error, -ENOMEM, "map %s: no memory for its keys", table->name);
	if (cells_feed(&table->schema, (double)table->elapsed_ns / 1e9, &cells, accumulator,
		       accumulator) &&
	    service_label(table))
		snapshot_set_active(r->snapshot, entry->row);
	return 0;
}

/* May the growth belong to two services, because the row may have changed owner? */
static bool is_doubtful(const struct key_reading *r, const struct key_entry *entry)
{
	uint32_t row = entry->row;

	return r->table->stale && service_label(r->table) &&
	       (row >= r->snapshot->row_count || !r->snapshot->states[row].fixed);
}

static int read_key_row(void *to, const struct source_row *row, struct error *error)
{
	const struct key_reading *r = to;
	struct table *table = r->table;
	struct keys *keys = &table->keys;
	struct key_entry *entry = entry_of(table, row);
	bool is_base;

	keys->rows++;
	if (!entry)
		return 0;
	is_base = keys->starting || (row->is_base && entry->seen == NEVER);
	entry->seen = keys->readings;
	entry->row = find_row(table, entry);
	cells_read(&table->schema, &row->bytes, keys->now);
	if (is_base || is_doubtful(r, entry)) {
		remember_entry(table, entry);
		return 0;
	}
	if (has_fallen(&table->schema, keys->now, entry->previous))
		memset(entry->previous, 0, table->schema.row_cells * sizeof(uint64_t));
	if (service_label(table) && snapshot_is_undecided(r->snapshot, entry->row))
		return 0;
	if (entry->name == INDEX_NONE &&
	    are_cells_equal(&table->schema, keys->now, entry->previous) &&
	    !has_gauge(&table->schema, keys->now))
		return 0;
	if (!name_entry(r, entry))
		return 0;
	if (entry->name == INDEX_NONE) {
		remember_entry(table, entry);
		return 0;
	}
	keys->name[entry->name].seen = (uint32_t)keys->readings;
	return feed_name(r, entry, error);
}

int keys_start(struct table *table, struct error *error)
{
	struct keys *keys = &table->keys;
	struct key_reading reading = { .table = table };
	int status;

	keys->entry_max = entries_most(&table->rows);
	keys->name_max = names_most(&table->rows);
	keys->entry = calloc(keys->entry_max, sizeof(*keys->entry));
	keys->now = calloc(table->schema.row_cells, sizeof(*keys->now));
	keys->group_count = key_groups(table);
	keys->groups = calloc(keys->group_count, sizeof(*keys->groups));
	if (!keys->entry || !keys->now || !keys->groups ||
	    index_init(&keys->by_key, keys->entry_max) ||
	    index_init(&keys->by_origin, keys->name_max))
		return error_set(error, -ENOMEM, "map %s: no memory for its keys", table->name);
	for (size_t i = 0; i < keys->group_count; i++)
		allowance_init(&keys->groups[i].new_series, keys->shown_max);
	keys->starting = true;
	status = rows_each(&table->rows, read_key_row, &reading, error);
	keys->starting = false;
	return status;
}

int keys_read(struct table *table, const struct snapshot *snapshot, struct error *error)
{
	struct key_reading reading = {
		.table = table,
		.snapshot = snapshot,
		.names = (uint32_t)labels_generation(&table->schema.labels),
	};

	table->keys.rows = 0;
	if (table->keys.entry_count > table->keys.entry_max / 2)
		forget_absent(table, 1);
	return rows_each(&table->rows, read_key_row, &reading, error);
}

void keys_end(struct table *table, uint64_t now_ns)
{
	key_names_choose(table, now_ns);
	forget_absent(table, FORGOTTEN_READINGS);
	table->keys.readings++;
}

/* Is a hash of an object without our tags full, so that its programs count no new keys? */
static bool is_map_full(const struct table *table)
{
	enum bpf_map_type type = bpf_map__type(table->map);

	return table->schema.subject.is_described &&
	       (type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH) &&
	       table->keys.rows >= bpf_map__max_entries(table->map);
}

/* Reports once that values of a function's argument have no series. The columns of histograms have
 * the same keys and would report it again. */
static bool report_function_other(struct table *table, struct error *ret_trouble)
{
	struct keys *keys = &table->keys;
	size_t count = ranking(&table->schema)->kind == COLUMN_INTEGER ? keys->group_count : 0;

	for (size_t i = 0; i < count; i++) {
		struct key_group *group = &keys->groups[i];
		const char *function = key_group_name(table, i);

		if (!group->has_other || group->other_reported || !function)
			continue;
		group->other_reported = true;
		error_set(
			ret_trouble, -E2BIG,
			"calls of Function \"%s\" whose argument cannot be read, or has a "
			"value without series of its own, count as \"%s-other\"; Rows, now %u, says "
			"how many values have series",
			function, function, keys->shown_max);
		return true;
	}
	return false;
}

bool keys_trouble(struct table *table, struct error *ret_trouble)
{
	struct keys *keys = &table->keys;

	if (keys->is_full && !keys->full_reported) {
		keys->full_reported = true;
		error_set(ret_trouble, -E2BIG,
			  "map %s: it has more than %zu keys; the others are not counted",
			  table->name, keys->entry_max);
		return true;
	}
	if (report_function_other(table, ret_trouble))
		return true;
	if (keys->filled_reported || table->schema.subject.kind != SUBJECT_KEY ||
	    !is_map_full(table))
		return false;
	keys->filled_reported = true;
	error_set(ret_trouble, -E2BIG,
		  "map %s: it is full: its programs cannot add keys beyond %u; raise Entries "
		  "in its Table block",
		  table->name, bpf_map__max_entries(table->map));
	return true;
}

bool keys_alike(struct table *table, struct error *ret_notice)
{
	struct keys *keys = &table->keys;

	if (!keys->is_any_alike || keys->alike_reported)
		return false;
	keys->alike_reported = true;
	error_set(ret_notice, -EEXIST,
		  "map %s: keys of two names would have one series \"%s\"; those of the one are "
		  "called \"%s\"",
		  table->name, keys->alike[0], keys->alike[1]);
	return true;
}

void keys_done(struct keys *keys)
{
	for (size_t i = 0; i < keys->entry_count; i++)
		entry_done(&keys->entry[i]);
	free(keys->entry);
	free(keys->name);
	free(keys->groups);
	free(keys->now);
	index_done(&keys->by_key);
	index_done(&keys->by_origin);
	*keys = (struct keys){ 0 };
}
