/* SPDX-License-Identifier: MIT */
/*
 * What METRIC tags and Value blocks have in common when they become columns and metrics of
 * collectd's types.
 */
#include "schema_parser.h"

#include "object/annotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 1024 /* bounds the comparison of each column with all others */
#define INSTANCE_MAX 96  /* leaves room for the names of statistics behind it */

int schema_bad(const struct schema_parser *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s: %s", r->map, member, why);
}

/* Refuses words that do not apply to the kind of column. */
static int check_column_words(const struct schema_parser *r, const char *member,
			      const struct column *column)
{
	const struct tag *tag = &column->tag;

	if (column->kind != COLUMN_INTEGER &&
	    (tag->rate || tag->active_growth || tag->rank || tag->per[0] || tag->where[0]))
		return schema_bad(r, member, "rate, active, rank, per and where are for integers");
	if (column->kind != COLUMN_MOMENTS && tag->frequency)
		return schema_bad(r, member, "frequency is for moments");
	if (column->kind != COLUMN_HIST && (tag->tail[0] || tag->least))
		return schema_bad(r, member, "tail and least are for a struct hist");
	if (tag->rate && tag->per[0])
		return schema_bad(r, member, "either rate or per");
	if (tag->rank && tag->per[0])
		return schema_bad(r, member, "either rank or per");
	if (tag->rank && r->schema->rank)
		return schema_bad(r, member, "another member has the word rank, and only one can");
	return 0;
}

/* The index of the tag's data source in its type; type->source_count: it has none. */
static size_t source_index(const struct tag *tag, const struct metric_type *type)
{
	size_t i = 0;

	while (tag->source[0] && i < type->source_count &&
	       strcmp(type->source[i].name, tag->source))
		i++;
	return i;
}

static int set_column_source(const struct schema_parser *r, const char *member,
			     const struct metric_type *type, struct column *column)
{
	const struct tag *tag = &column->tag;
	bool counted = column->kind == COLUMN_INTEGER && !tag->rate && !tag->per[0];
	size_t source = source_index(tag, type);

	if (type->source_count == 0) {
		column->ds = counted ? SOURCE_DERIVE : SOURCE_GAUGE;
		return 0;
	}
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
	column->is_gauge = (counted || tag->divides_values) && column->ds == SOURCE_GAUGE;
	if (tag->highest && (!column->is_gauge || column->is_signed))
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: highest is for an unsigned integer of a GAUGE "
				 "that is dispatched as it is",
				 r->map, member);
	if (column->ds != SOURCE_GAUGE && !counted)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: type %s is not a GAUGE, "
				 "which rates, ratios, moments and histograms need",
				 r->map, member, tag->type);
	return 0;
}

static int add_column(const struct schema_parser *r, struct column *column)
{
	struct schema *schema = r->schema;
	struct column *grown;

	if (schema->column_count == COLUMNS_MAX)
		return error_set(r->error, -E2BIG, "map %s: more than %d METRIC tags on its rows",
				 r->map, COLUMNS_MAX);
	grown = reallocarray(schema->columns, schema->column_count + 1, sizeof(*grown));
	if (!grown)
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	schema_give_cells(schema, column);
	schema->columns = grown;
	schema->columns[schema->column_count++] = *column;
	if (column->tag.rank)
		schema->rank = (uint32_t)schema->column_count;
	return 0;
}

int schema_add(const struct schema_parser *r, int i, const char *text)
{
	const char *member = r->name(r, i);
	struct column column = { .member = i };
	struct metric_type type;
	struct error why;
	int status;

	status = tag_parse(text, &column.tag, &why);
	if (status)
		return schema_bad(r, member, why.text);
	status = r->locate(r, i, &column);
	if (status)
		return status;
	if (column.kind != COLUMN_INTEGER && strlen(column.tag.instance) > INSTANCE_MAX)
		return schema_bad(r, member,
				  "the type instance leaves no room for what is appended to it");
	status = r->lookup(column.tag.type, &type);
	if (status == -E2BIG)
		return error_set(r->error, status,
				 "map %s, member %s: type %s has more than %d data sources", r->map,
				 member, column.tag.type, SCHEMA_SOURCES_MAX);
	if (status)
		return error_set(r->error, status,
				 "map %s, member %s: collectd's types.db has no type \"%s\"",
				 r->map, member, column.tag.type);
	status = check_column_words(r, member, &column);
	status = status ?: set_column_source(r, member, &type, &column);
	return status ?: add_column(r, &column);
}

/* Adds a column without a metric for the member that a word of another column names, whatever tags
 * that member has. */
static int add_named_column(const struct schema_parser *r, const char *word, const char *name,
			    bool is_gauge, bool is_highest)
{
	struct column column = {
		.is_hidden = true,
		.is_gauge = is_gauge,
		.tag = { .highest = is_highest },
	};
	int i = r->find(r, name), status;
	char why[64];

	if (i < 0) {
		snprintf(why, sizeof(why), "there is none, which %s= names", word);
		return schema_bad(r, name, why);
	}
	status = r->locate(r, i, &column);
	if (status == 0 && column.kind != COLUMN_INTEGER) {
		snprintf(why, sizeof(why), "is not an integer, as %s= needs", word);
		status = schema_bad(r, name, why);
	}
	return status ?: add_column(r, &column);
}

/* Adds the columns that per= and where= name. Each index is set to the column that is added
 * next. */
static int add_named_columns(const struct schema_parser *r)
{
	const struct schema *schema = r->schema;
	size_t count = schema->column_count;
	int status = 0;

	for (uint32_t i = 0; i < count && status == 0; i++) {
		struct tag tag = schema->columns[i].tag;

		if (tag.per[0]) {
			schema->columns[i].per = (uint32_t)schema->column_count;
			status = add_named_column(r, "per", tag.per, tag.divides_values,
						  tag.highest);
		}
		if (status == 0 && tag.where[0]) {
			status = add_named_column(r, "where", tag.where, true, false);
			schema->columns[i].where = (uint32_t)schema->column_count;
		}
	}
	return status;
}

static bool is_same_metric(const struct tag *a, const struct tag *b)
{
	return !strcmp(a->type, b->type) && !strcmp(a->instance, b->instance);
}

/* Finds the column of a data source of the metric. -EINVAL: there is none, or more than one. */
static int find_source(const struct schema_parser *r, const struct tag *of, const char *source,
		       uint32_t *ret_column)
{
	const struct schema *schema = r->schema;
	uint32_t found = 0;

	for (uint32_t i = 0; i < schema->column_count; i++) {
		const struct tag *tag = &schema->columns[i].tag;

		if (!is_same_metric(tag, of) || (tag->source[0] && strcmp(tag->source, source)))
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

static int add_metric(const struct schema_parser *r, uint32_t first)
{
	struct schema *schema = r->schema;
	const struct tag *tag = &schema->columns[first].tag;
	struct metric metric = { 0 };
	struct metric_type type;

	if (r->lookup(tag->type, &type))
		return error_set(r->error, -ENOENT, "map %s: types.db no longer has type %s",
				 r->map, tag->type);
	metric.source_count = type.source_count;
	metric.series = UINT32_MAX;
	if (type.source_count == 0) {
		metric.source_count = 1;
		metric.column[0] = first;
	}
	for (size_t i = 0; i < type.source_count; i++) {
		int status = find_source(r, tag, type.source[i].name, &metric.column[i]);

		if (status)
			return status;
	}
	schema->metrics[schema->metric_count++] = metric;
	return 0;
}

int schema_finish(const struct schema_parser *r)
{
	struct schema *schema = r->schema;
	int status = add_named_columns(r);

	if (status || !schema->column_count)
		return status;
	schema->metrics = calloc(schema->column_count + 1, sizeof(*schema->metrics));
	if (!schema->metrics)
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	for (uint32_t i = 0; i < schema->column_count; i++) {
		bool is_done = schema->columns[i].is_hidden;

		for (uint32_t j = 0; j < i && !is_done; j++)
			is_done = is_same_metric(&schema->columns[i].tag, &schema->columns[j].tag);
		status = is_done ? 0 : add_metric(r, i);
		if (status)
			return status;
	}
	return 0;
}

int schema_find_member(const struct schema_parser *r, const char *name)
{
	for (int i = 0; i < btf_vlen(r->row); i++)
		if (!strcmp(annotation_name(r->btf, btf_members(r->row)[i].name_off), name))
			return i;
	return -1;
}
