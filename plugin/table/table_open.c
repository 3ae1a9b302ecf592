/* SPDX-License-Identifier: MIT */
/*
 * From a map, its tags or its Table block to a table with the columns that are collected.
 */
#include "table.h"

#include "object/annotation.h"
#include "object/hook_set_parts.h"
#include "schema/fields.h"
#include "schema/label_tags.h"
#include "schema/schema_block.h"
#include "schema/schema_tags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STATISTIC_ROOM 32 /* bytes of a statistic's name behind a type instance */

static struct map_shape map_shape_of(const struct table *table)
{
	return (struct map_shape){
		.name = table->name,
		.key_type = bpf_map__btf_key_type_id(table->map),
		.value_type = bpf_map__btf_value_type_id(table->map),
		.key_size = bpf_map__key_size(table->map),
		.value_size = bpf_map__value_size(table->map),
	};
}

/* Bytes that a column's own type instance may have, so that everything behind it fits. */
static size_t instance_room(const struct schema *schema, const struct column *column)
{
	size_t labels = labels_in_instance(&schema->labels) ? LABELS_TEXT_MAX : 0;

	return TAG_TEXT_MAX - 1 - labels - (column->kind == COLUMN_INTEGER ? 0 : STATISTIC_ROOM);
}

/* Refuses type instances that leave too little room for labels and statistics. */
static int check_instance_room(const struct table *table, struct error *error)
{
	const struct schema *schema = &table->schema;
	int status = 0;

	for (size_t i = 0; i < schema->column_count && status == 0; i++)
		if (strlen(schema->columns[i].tag.instance) >
		    instance_room(schema, &schema->columns[i]))
			status = error_set(error, -EINVAL,
					   "map %s: the type instance %s leaves no room for labels",
					   table->name, schema->columns[i].tag.instance);
	return status;
}

static int read_table_labels(struct table *table, const struct btf *btf, struct error *error)
{
	struct schema *schema = &table->schema;
	int status =
		labels_read(&schema->labels, btf, table->name, bpf_map__btf_key_type_id(table->map),
			    bpf_map__key_size(table->map), &schema->subject, error);

	return status ?: check_instance_room(table, error);
}

/* The keys of rows of files have a number behind them that differs between files with the same
 * text. */
static int read_table_fields(struct table *table, const struct btf *btf, struct error *error)
{
	const struct map_shape map = map_shape_of(table);
	int status = fields_read(&table->fields, btf, &map, &table->schema, error);

	if (status > 0)
		table->schema.labels.key_size += sizeof(uint64_t);
	return status < 0 ? status : 0;
}

static int select_metrics(struct table *table, const struct selection *selection,
			  struct error *error)
{
	static const struct selection by_default;

	if (selection_apply(selection ?: &by_default, &table->schema))
		return error_set(error, -ENOMEM, "map %s: no memory", table->name);
	return 0;
}

/* Only what is written into a mapped array is seen by programs at once. */
static int check_tails(const struct table *table, struct error *error)
{
	if (!table->schema.tail_count || source_of(table->map) == &source_array)
		return 0;
	return error_set(error, -EINVAL,
			 "map %s: tail= is written into its rows, which needs an array with "
			 "BPF_F_MMAPABLE; declare it by MMAP_ARRAY, or leave the word out",
			 table->name);
}

/* A BY_CPU tag names an option that has the effect of the word cpu of SUBJECT. */
static int read_by_cpu(struct table *table, const struct btf *btf, const struct strings *options,
		       struct error *error)
{
	const char *option = annotation_on_variable(btf, table->name, OBJECT_BY_CPU_TAG);
	struct subject_tag *subject = &table->schema.subject;

	if (!option)
		return 0;
	if (subject->kind != SUBJECT_KEY || subject->cpu || !source_is_percpu(table->map))
		return error_set(error, -EINVAL,
				 "map %s: BY_CPU goes with SUBJECT(\"key\") and no word cpu, of a "
				 "per-CPU array or hash",
				 table->name);
	subject->cpu = options && strings_have(options, option);
	return 0;
}

static int read_table_subject(struct table *table, const struct btf *btf,
			      const struct selection *selection, struct error *error)
{
	int status = schema_subject(btf, table->name, &table->schema.subject, error);

	return status ?: read_by_cpu(table, btf, selection ? selection->options : NULL, error);
}

/* Reads what the tags of a map say. */
static int read_table_tags(struct table *table, const struct btf *btf, type_lookup *lookup,
			   const struct selection *selection, struct error *error)
{
	const char *name = table->name;
	uint32_t type = bpf_map__btf_value_type_id(table->map);
	int status = type ? schema_read(&table->schema, btf, name, type, lookup, error) : 0;

	if (status || table->schema.column_count == 0)
		return status;
	status = check_tails(table, error);
	status = status ?: read_table_subject(table, btf, selection, error);
	if (status == 0 && table->schema.subject.kind == SUBJECT_KEY)
		status = read_table_labels(table, btf, error);
	if (status == 0 && table->schema.subject.kind == SUBJECT_PROCESS && !table->schema.rank)
		status = error_set(error, -EINVAL,
				   "map %s: no member has the word rank, by which TopN chooses "
				   "among processes",
				   name);
	return status;
}

static int read_table_block(struct table *table, const struct btf *btf,
			    const struct table_config *block, type_lookup *lookup,
			    struct error *error)
{
	const struct map_shape shape = map_shape_of(table);
	int status = schema_describe(&table->schema, btf, &shape, block, lookup, error);

	return status ?: check_instance_room(table, error);
}

int table_open(struct table *table, struct bpf_map *map, const struct btf *btf,
	       const struct table_config *block, type_lookup *lookup,
	       const struct selection *selection, struct error *error)
{
	int status;

	*table = (struct table){ .map = map };
	snprintf(table->name, sizeof(table->name), "%s", bpf_map__name(map));
	if (bpf_map__is_internal(map))
		return 0;
	status = block ? read_table_block(table, btf, block, lookup, error)
		       : read_table_tags(table, btf, lookup, selection, error);
	if (status || table->schema.column_count == 0) {
		table_done(table);
		return status;
	}
	status = select_metrics(table, selection, error);
	if (status == 0 && !block)
		status = read_table_fields(table, btf, error);
	if (status == 0 && table->schema.metric_count)
		return 1;
	/* The map of a FILE table is never created, whether its metrics are collected or not. */
	if (status == 0 && table->fields)
		status = bpf_map__set_autocreate(map, false);
	table_done(table);
	return status;
}
