/* SPDX-License-Identifier: MIT */
/*
 * From BTF to columns: which members of a map's row are metrics, and of which
 * collectd type. BTF comes from a file that anybody may have written, so all
 * that is taken from it is checked against the row's size.
 */
#include "schema.h"

#include "bpf/lib/hist.h"
#include "object/annotation.h"
#include "stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METRIC_TAG "metric:"
#define SUBJECT_TAG "subject:"
#define DEFAULT_TAG "default:"
#define ROW_SIZE_MAX (1U << 20)
#define COLUMNS_MAX 1024 /* each is compared with each */
#define INSTANCE_MAX 96  /* of statistics, whose names follow it */

struct reader {
	struct schema *schema;
	const struct btf *btf;
	const char *map;
	const struct btf_type *row;
	type_lookup *lookup;
	struct error *error;
};

/* Through typedefs, const and volatile; NULL if the chain is broken. */
static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);
}

static int bad(const struct reader *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s: %s", r->map, member, why);
}

/* struct { u64 count, sum, ... } as in metric.bpf.h: 8-byte cells only. */
static bool is_cells(const struct btf_type *type, uint32_t cells)
{
	return type->size == cells * sizeof(uint64_t);
}

static int column_shape(const struct reader *r, const char *member, const struct btf_type *type,
			struct column *column)
{
	const char *name = annotation_name(r->btf, type->name_off);

	column->cell_size = sizeof(uint64_t);
	if (btf_is_int(type) || btf_is_any_enum(type)) {
		column->kind = COLUMN_INTEGER;
		column->cells = 1;
		column->cell_size = type->size;
		column->is_signed = btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED;
		if (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8)
			return 0;
		return bad(r, member, "only integers of 1, 2, 4 or 8 bytes can be metrics");
	}
	if (btf_is_struct(type) && !strcmp(name, "moments") && is_cells(type, MOMENTS_CELLS)) {
		column->kind = COLUMN_MOMENTS;
		column->cells = MOMENTS_CELLS;
		return 0;
	}
	if (btf_is_struct(type) && !strcmp(name, "hist") && is_cells(type, HIST_BUCKETS)) {
		column->kind = COLUMN_HIST;
		column->cells = HIST_BUCKETS;
		return 0;
	}
	return bad(r, member,
		   "is neither an integer, nor the struct moments or struct hist of "
		   "metric.bpf.h");
}

/* Words that the kind of column does not know. */
static int column_words(const struct reader *r, const char *member, const struct column *column)
{
	const struct tag *tag = &column->tag;

	if (column->kind != COLUMN_INTEGER &&
	    (tag->rate || tag->notable || tag->rank || tag->per[0]))
		return bad(r, member, "rate, notable, rank and per are for integers");
	if (column->kind != COLUMN_MOMENTS && tag->frequency)
		return bad(r, member, "frequency is for moments");
	if (column->kind != COLUMN_HIST && tag->tail[0])
		return bad(r, member, "tail is for histograms");
	if (tag->rate && tag->per[0])
		return bad(r, member, "either rate or per");
	if (tag->rank && tag->per[0])
		return bad(r, member, "either rank or per");
	if (tag->rank && r->schema->rank)
		return bad(r, member, "another member has the word rank, and only one can");
	return 0;
}

/* Which data source of the type it is; type->source_count: none. */
static size_t source_of(const struct tag *tag, const struct metric_type *type)
{
	size_t i = 0;

	while (tag->source[0] && i < type->source_count &&
	       strcmp(type->source[i].name, tag->source))
		i++;
	return i;
}

static int column_source(const struct reader *r, const char *member, const struct metric_type *type,
			 struct column *column)
{
	const struct tag *tag = &column->tag;
	bool counted = column->kind == COLUMN_INTEGER && !tag->rate && !tag->per[0];
	size_t source = source_of(tag, type);

	if (column->kind != COLUMN_INTEGER && type->source_count > 1)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: type %s has %zu data sources, moments and "
				 "histograms need one of a single one",
				 r->map, member, tag->type, type->source_count);
	if (tag->source[0] == '\0' && type->source_count > 1)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: type %s has %zu data "
				 "sources, name one: %s:%s",
				 r->map, member, tag->type, type->source_count, tag->type,
				 type->source[0].name);
	if (source == type->source_count)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: type %s has no data source "
				 "\"%s\"",
				 r->map, member, tag->type, tag->source);
	column->ds = type->source[source].kind;
	column->is_gauge = (counted || tag->over) && column->ds == SOURCE_GAUGE;
	if (column->ds != SOURCE_GAUGE && !counted)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: type %s is not a GAUGE, "
				 "which rates, ratios, moments and histograms need",
				 r->map, member, tag->type);
	return 0;
}

/* Kind and place of the i-th member of the row. */
static int column_place(const struct reader *r, int i, struct column *column)
{
	const struct btf_member *m = &btf_members(r->row)[i];
	const char *member = annotation_name(r->btf, m->name_off);
	const struct btf_type *type = resolve(r->btf, m->type);
	uint32_t bit_offset = btf_member_bit_offset(r->row, i);
	int status;

	if (!type || bit_offset % 8 || btf_member_bitfield_size(r->row, i))
		return bad(r, member, "bit fields cannot be metrics");
	status = column_shape(r, member, type, column);
	if (status)
		return status;
	column->offset = bit_offset / 8;
	if (column->offset % column->cell_size)
		return bad(r, member, "is not aligned");
	if ((uint64_t)column->offset + (uint64_t)column->cells * column->cell_size >
	    r->schema->row_size)
		return bad(r, member, "lies outside of the row");
	return 0;
}

static int column_add(const struct reader *r, struct column *column)
{
	struct schema *schema = r->schema;
	struct column *grown;

	if (schema->column_count == COLUMNS_MAX)
		return error_set(r->error, -E2BIG, "map %s: more than %d METRIC tags on its rows",
				 r->map, COLUMNS_MAX);
	grown = reallocarray(schema->columns, schema->column_count + 1, sizeof(*grown));
	if (!grown)
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	column->cell = schema->cells;
	schema->cells += column->cells;
	column->moments = schema->moments;
	if (column->kind == COLUMN_MOMENTS)
		schema->moments += column->cells;
	schema->columns = grown;
	schema->columns[schema->column_count++] = *column;
	if (column->tag.rank)
		schema->rank = (uint32_t)schema->column_count;
	return 0;
}

static int column_read(const struct reader *r, int i, const char *text)
{
	const char *member = annotation_name(r->btf, btf_members(r->row)[i].name_off);
	struct column column = { .member = i };
	struct metric_type known;
	struct error why;
	int status;

	status = tag_parse(text, &column.tag, &why);
	if (status)
		return bad(r, member, why.text);
	status = column_place(r, i, &column);
	if (status)
		return status;
	if (column.kind != COLUMN_INTEGER && strlen(column.tag.instance) > INSTANCE_MAX)
		return bad(r, member, "the type instance is too long for what is put behind it");
	status = r->lookup(column.tag.type, &known);
	if (status == -E2BIG)
		return error_set(r->error, status,
				 "map %s, member %s: type %s has more than %d data sources", r->map,
				 member, column.tag.type, SCHEMA_SOURCES_MAX);
	if (status)
		return error_set(r->error, status,
				 "map %s, member %s: collectd's types.db has no type \"%s\"",
				 r->map, member, column.tag.type);
	status = column_words(r, member, &column);
	status = status ?: column_source(r, member, &known, &column);
	return status ?: column_add(r, &column);
}

/* The member that a column's growth is divided by. It becomes a column without a
 * metric, whatever tag it has. */
static int per_read(const struct reader *r, uint32_t of)
{
	struct column column = { .is_hidden = true, .is_gauge = r->schema->columns[of].tag.over };
	struct schema *schema = r->schema;
	const char *per = schema->columns[of].tag.per;
	int i = 0, status;

	while (i < btf_vlen(r->row) &&
	       strcmp(annotation_name(r->btf, btf_members(r->row)[i].name_off), per) != 0)
		i++;
	if (i == btf_vlen(r->row))
		return bad(r, per, "there is none, which per= names");
	status = column_place(r, i, &column);
	if (status == 0 && column.kind != COLUMN_INTEGER)
		status = bad(r, per, "is no integer, which per= wants");
	if (status)
		return status;
	schema->columns[of].per = (uint32_t)schema->column_count;
	return column_add(r, &column);
}

static int pers_read(const struct reader *r)
{
	size_t count = r->schema->column_count;
	int status = 0;

	for (uint32_t i = 0; i < count && status == 0; i++)
		if (r->schema->columns[i].tag.per[0])
			status = per_read(r, i);
	return status;
}

static bool same_metric(const struct tag *a, const struct tag *b)
{
	return !strcmp(a->type, b->type) && !strcmp(a->instance, b->instance);
}

/* Which column is this data source of the metric? Columns count from 1; 0: none,
 * and a second one is an error. */
static int find_source(const struct reader *r, const struct tag *of, const char *source,
		       uint32_t *ret_column)
{
	const struct schema *schema = r->schema;
	uint32_t found = 0;

	for (uint32_t i = 0; i < schema->column_count; i++) {
		const struct tag *tag = &schema->columns[i].tag;

		if (!same_metric(tag, of) || (tag->source[0] && strcmp(tag->source, source)))
			continue;
		if (found)
			return error_set(r->error, -EINVAL, "map %s: two members are %s%s%s:%s",
					 r->map, of->type, of->instance[0] ? "-" : "", of->instance,
					 source);
		found = i + 1;
	}
	if (!found)
		return error_set(r->error, -EINVAL,
				 "map %s: no member is %s%s%s:%s, and collectd "
				 "takes all data sources of a type together",
				 r->map, of->type, of->instance[0] ? "-" : "", of->instance,
				 source);
	*ret_column = found - 1;
	return 0;
}

static int metric_read(const struct reader *r, uint32_t first)
{
	struct schema *schema = r->schema;
	const struct tag *tag = &schema->columns[first].tag;
	struct metric metric = { 0 };
	struct metric_type type;

	if (r->lookup(tag->type, &type))
		return error_set(r->error, -ENOENT, "map %s: type %s is gone from types.db", r->map,
				 tag->type);
	metric.source_count = type.source_count;
	metric.series = UINT32_MAX;
	for (size_t i = 0; i < type.source_count; i++) {
		int status = find_source(r, tag, type.source[i].name, &metric.column[i]);

		if (status)
			return status;
	}
	schema->metrics[schema->metric_count++] = metric;
	return 0;
}

static int metrics_read(const struct reader *r)
{
	struct schema *schema = r->schema;

	schema->metrics = calloc(schema->column_count + 1, sizeof(*schema->metrics));
	if (!schema->metrics)
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	for (uint32_t i = 0; i < schema->column_count; i++) {
		bool known = schema->columns[i].is_hidden;
		int status;

		for (uint32_t j = 0; j < i && !known; j++)
			known = same_metric(&schema->columns[i].tag, &schema->columns[j].tag);
		status = known ? 0 : metric_read(r, i);
		if (status)
			return status;
	}
	return 0;
}

/* Decl tags stand behind the types that they name, in no order. */
static int columns_read(const struct reader *r, int32_t row_id)
{
	uint32_t count = btf__type_cnt(r->btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *tag = btf__type_by_id(r->btf, id);
		const char *text;
		int member, status;

		if (!btf_is_decl_tag(tag) || (int32_t)tag->type != row_id)
			continue;
		text = annotation_name(r->btf, tag->name_off);
		member = btf_decl_tag(tag)->component_idx;
		if (strncmp(text, METRIC_TAG, strlen(METRIC_TAG)) != 0)
			continue;
		if (member < 0 || member >= btf_vlen(r->row))
			return bad(r, text, "the tag is not on a member");
		status = column_read(r, member, text + strlen(METRIC_TAG));
		if (status)
			return status;
	}
	return 0;
}

/* DEFAULT(off) stands beside METRIC. */
static int default_read(const struct reader *r, int member, const char *text)
{
	struct schema *schema = r->schema;
	bool found = false;

	if (member < 0 || member >= btf_vlen(r->row))
		return error_set(r->error, -EINVAL, "map %s: DEFAULT(%s) is not on a member",
				 r->map, text);
	for (size_t i = 0; i < schema->column_count; i++)
		if (schema->columns[i].member == member)
			schema->columns[i].is_off = found = true;
	if (found && !strcmp(text, "off"))
		return 0;
	return bad(r, annotation_name(r->btf, btf_members(r->row)[member].name_off),
		   found ? "of a member, DEFAULT is off, or not there"
			 : "has DEFAULT, but no METRIC");
}

static int defaults_read(const struct reader *r, int32_t row_id)
{
	uint32_t count = btf__type_cnt(r->btf);
	int status = 0;

	for (uint32_t id = 1; id < count && status == 0; id++) {
		const struct btf_type *tag = btf__type_by_id(r->btf, id);
		const char *text;

		if (!btf_is_decl_tag(tag) || (int32_t)tag->type != row_id)
			continue;
		text = annotation_name(r->btf, tag->name_off);
		if (strncmp(text, DEFAULT_TAG, strlen(DEFAULT_TAG)) == 0)
			status = default_read(r, btf_decl_tag(tag)->component_idx,
					      text + strlen(DEFAULT_TAG));
	}
	return status;
}

int schema_read(struct schema *schema, const struct btf *btf, const char *map, uint32_t value_type,
		type_lookup *lookup, struct error *error)
{
	int row_id = btf__resolve_type(btf, value_type);
	const struct btf_type *row = row_id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)row_id);
	struct reader reader = {
		.schema = schema,
		.btf = btf,
		.map = map,
		.row = row,
		.lookup = lookup,
		.error = error,
	};
	int status;

	*schema = (struct schema){ 0 };
	if (!row || !btf_is_struct(row))
		return 0;
	if (row->size > ROW_SIZE_MAX)
		return error_set(error, -E2BIG, "map %s: a row of more than 1 MiB", map);
	schema->row_size = row->size;
	status = columns_read(&reader, row_id);
	if (status == 0 && schema->column_count)
		status = defaults_read(&reader, row_id);
	status = status ?: tails_find(schema, btf, row, map, error);
	status = status ?: pers_read(&reader);
	if (status == 0 && schema->column_count)
		status = metrics_read(&reader);
	if (status)
		schema_done(schema);
	return status;
}

bool schema_is_off(const struct schema *schema, const struct metric *metric)
{
	bool is_off = false;

	for (size_t i = 0; i < metric->source_count; i++)
		is_off |= schema->columns[metric->column[i]].is_off;
	return is_off;
}

/* The text of the SUBJECT tag that a type is, if it is on the variable of this map. */
static const char *subject_text(const struct btf *btf, const struct btf_type *tag, const char *map)
{
	const struct btf_type *var = btf_is_decl_tag(tag) ? btf__type_by_id(btf, tag->type) : NULL;
	const char *text = annotation_name(btf, tag->name_off);

	if (!var || !btf_is_var(var) || strcmp(annotation_name(btf, var->name_off), map) != 0 ||
	    strncmp(text, SUBJECT_TAG, strlen(SUBJECT_TAG)) != 0)
		return NULL;
	return text + strlen(SUBJECT_TAG);
}

int schema_subject(const struct btf *btf, const char *map, struct subject_tag *ret_subject,
		   struct error *error)
{
	uint32_t count = btf__type_cnt(btf);
	const char *found = NULL;
	struct error why;

	for (uint32_t id = 1; id < count; id++) {
		const char *text = subject_text(btf, btf__type_by_id(btf, id), map);

		if (text && found)
			return error_set(error, -EINVAL, "map %s: two SUBJECT tags", map);
		found = text ?: found;
	}
	if (!found)
		return error_set(error, -ENOENT,
				 "map %s: its rows have METRIC tags, but it does not say what a "
				 "row stands for; put SUBJECT(\"service\"), "
				 "SUBJECT(\"process\"), SUBJECT(\"probe\") or "
				 "SUBJECT(\"key\") behind the map's declaration",
				 map);
	if (subject_parse(found, ret_subject, &why))
		return error_set(error, -EINVAL, "map %s: %s", map, why.text);
	return 0;
}

void schema_done(struct schema *schema)
{
	free(schema->columns);
	free(schema->metrics);
	free(schema->tails);
	labels_done(&schema->labels);
	*schema = (struct schema){ 0 };
}
