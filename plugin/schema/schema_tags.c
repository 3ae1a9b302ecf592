/* SPDX-License-Identifier: MIT */
/*
 * From BTF to columns: which members of a map's row are metrics, and of which collectd type. BTF
 * comes from a file that anybody may have written, so each offset and size is checked against the
 * size of the row.
 */
#include "schema_tags.h"

#include "bpf/lib/hist.h"
#include "object/annotation.h"
#include "schema_parser.h"
#include "tail.h"
#include "type.h"

#include <errno.h>
#include <string.h>

#define METRIC_TAG "metric:"
#define SUBJECT_TAG "subject:"
#define DEFAULT_TAG "default:"
#define ROW_SIZE_MAX (1U << 20)

static const char *member_name(const struct schema_parser *r, int member)
{
	return annotation_name(r->btf, btf_members(r->row)[member].name_off);
}

/* The structs of metric.bpf.h consist of 8-byte cells: { u64 count, sum, ... }. */
static bool is_cells(const struct btf_type *type, uint32_t cells)
{
	return type->size == cells * sizeof(uint64_t);
}

static int column_shape(const struct schema_parser *r, const char *member,
			const struct btf_type *type, struct column *column)
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
		return schema_bad(r, member, "only integers of 1, 2, 4 or 8 bytes can be metrics");
	}
	if (btf_is_struct(type) && !strcmp(name, "moments") && is_cells(type, MOMENTS_CELLS)) {
		column->kind = COLUMN_MOMENTS;
		column->cells = MOMENTS_CELLS;
		return 0;
	}
	if (btf_is_struct(type) && !strcmp(name, "hist") && is_cells(type, HIST_CELLS)) {
		column->kind = COLUMN_HIST;
		column->cells = HIST_CELLS;
		return 0;
	}
	return schema_bad(r, member,
			  "is neither an integer, nor the struct moments or struct hist of "
			  "metric.bpf.h");
}

static int locate_member(const struct schema_parser *r, int i, struct column *column)
{
	const char *member = member_name(r, i);
	const struct btf_type *type = type_resolve(r->btf, btf_members(r->row)[i].type);
	uint32_t bit_offset = btf_member_bit_offset(r->row, i);
	int status;

	if (!type || bit_offset % 8 || btf_member_bitfield_size(r->row, i))
		return schema_bad(r, member, "bit fields cannot be metrics");
	status = column_shape(r, member, type, column);
	if (status)
		return status;
	column->width = column->cells;
	column->offset = bit_offset / 8;
	if (column->offset % column->cell_size)
		return schema_bad(r, member, "is not aligned");
	if ((uint64_t)column->offset + (uint64_t)column->cells * column->cell_size >
	    r->schema->row_size)
		return schema_bad(r, member, "lies outside of the row");
	return 0;
}

/* BTF has declaration tags as types of their own, in any order. */
static int read_columns(const struct schema_parser *r, int32_t row_id)
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
			return schema_bad(r, text, "the tag is not on a member");
		status = schema_add(r, member, text + strlen(METRIC_TAG));
		if (status)
			return status;
	}
	return 0;
}

/* A member with DEFAULT(off) must have a METRIC, too. */
static int read_default(const struct schema_parser *r, int member, const char *text)
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
	return schema_bad(r, member_name(r, member),
			  found ? "DEFAULT of a member is off, or left out"
				: "has DEFAULT, but no METRIC");
}

static int read_defaults(const struct schema_parser *r, int32_t row_id)
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
			status = read_default(r, btf_decl_tag(tag)->component_idx,
					      text + strlen(DEFAULT_TAG));
	}
	return status;
}

int schema_read(struct schema *schema, const struct btf *btf, const char *map, uint32_t value_type,
		type_lookup *lookup, struct error *error)
{
	int row_id = btf__resolve_type(btf, value_type);
	const struct btf_type *row = row_id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)row_id);
	const struct schema_parser parser = {
		.schema = schema,
		.map = map,
		.lookup = lookup,
		.error = error,
		.name = member_name,
		.find = schema_find_member,
		.locate = locate_member,
		.btf = btf,
		.row = row,
	};
	int status;

	*schema = (struct schema){ 0 };
	if (!row || !btf_is_struct(row))
		return 0;
	if (row->size > ROW_SIZE_MAX)
		return error_set(error, -E2BIG, "map %s: a row of more than 1 MiB", map);
	schema->row_size = row->size;
	status = read_columns(&parser, row_id);
	if (status == 0 && schema->column_count)
		status = read_defaults(&parser, row_id);
	status = status ?: tails_find(schema, btf, row, map, error);
	status = status ?: schema_finish(&parser);
	if (status)
		schema_done(schema);
	return status;
}

/* The text of a SUBJECT tag on the variable of this map; NULL: the type is something else. */
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
				 "SUBJECT(\"key\") after the map's declaration",
				 map);
	if (subject_parse(found, ret_subject, &why))
		return error_set(error, -EINVAL, "map %s: %s", map, why.text);
	return 0;
}
