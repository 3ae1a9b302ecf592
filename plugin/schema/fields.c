/* SPDX-License-Identifier: MIT */
/*
 * Reads FILE and FIELD tags: which file the rows of a table come from, and which of its words
 * become which members of rows and keys.
 */
#include "fields.h"

#include "label_kind.h"
#include "object/annotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_TAG "file:"
#define FIELD_TAG "field:"

struct fields_parser {
	struct fields *fields;
	const struct btf *btf;
	const char *map;
	const struct schema *schema;
	struct error *error;
};

static int bad_field(const struct fields_parser *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s: %s", r->map, member, why);
}

static int add_field(const struct fields_parser *r, const char *member, const char *text,
		     struct field *field)
{
	struct fields *fields = r->fields;
	struct error why;

	if (fields->count == TEXT_FIELDS_MAX)
		return error_set(r->error, -E2BIG, "map %s: more than %d FIELD tags", r->map,
				 TEXT_FIELDS_MAX);
	if (field_tag_parse(text, &fields->file, &fields->tag[fields->count], &why))
		return bad_field(r, member, why.text);
	snprintf(field->member, sizeof(field->member), "%s", member);
	fields->field[fields->count++] = *field;
	return 0;
}

/* The column at this offset of the row, or NULL. */
static const struct column *column_at(const struct schema *schema, uint32_t offset)
{
	for (size_t i = 0; i < schema->column_count; i++)
		if (schema->columns[i].offset == offset)
			return &schema->columns[i];
	return NULL;
}

static int add_row_field(const struct fields_parser *r, const char *member, const char *text,
			 const struct column *column)
{
	struct field field = {
		.is_signed = column->is_signed,
		.is_gauge = column->is_gauge,
		.offset = column->offset,
		.size = column->cell_size,
		.column = (uint32_t)(column - r->schema->columns),
	};

	if (!text)
		return bad_field(r, member, "has no FIELD, which says what of the FILE it is");
	if (column->kind != COLUMN_INTEGER || column->cell_size != sizeof(uint64_t))
		return bad_field(r, member, "a FIELD is an integer of 8 bytes");
	return add_field(r, member, text, &field);
}

/* Members of the row that are no columns need no FIELD. */
static int read_row_fields(const struct fields_parser *r, uint32_t row_id)
{
	const struct btf_type *row = btf__type_by_id(r->btf, row_id);
	int status = 0;

	for (int i = 0; i < btf_vlen(row) && status == 0; i++) {
		const char *member = annotation_name(r->btf, btf_members(row)[i].name_off);
		const struct column *column =
			column_at(r->schema, btf_member_bit_offset(row, (uint32_t)i) / 8);

		if (column)
			status = add_row_field(r, member,
					       annotation_of_member(r->btf, row_id, i, FIELD_TAG),
					       column);
	}
	return status;
}

static const struct label *label_at(const struct labels *labels, uint32_t offset)
{
	for (size_t i = 0; i < labels->count; i++)
		if (labels->label[i].offset == offset)
			return &labels->label[i];
	return NULL;
}

static int add_key_field(const struct fields_parser *r, const char *member, const char *text,
			 const struct label *label)
{
	struct field field = {
		.of_key = true,
		.is_text = label->is_text,
		.offset = label->offset,
		.size = label->size,
	};

	if (label->kind->is_address)
		return bad_field(r, member, "no word of a FILE is an address");
	if (label->kind != label_kind_service())
		return text ? add_field(r, member, text, &field)
			    : bad_field(r, member,
					"has no FIELD, which says what of the FILE it is");
	if (text)
		return bad_field(r, member, "no word of a FILE is a service");
	if (label->size != sizeof(uint32_t))
		return bad_field(r, member, "the row of a service has 32 bits");
	r->fields->by_service = true;
	r->fields->service_offset = label->offset;
	return 0;
}

static int read_key_fields(const struct fields_parser *r, uint32_t key_id)
{
	const struct btf_type *key = btf__type_by_id(r->btf, key_id);
	int status = 0;

	if (!btf_is_struct(key))
		return error_set(r->error, -EINVAL,
				 "map %s: a key of rows of a FILE is a struct, whose members have "
				 "FIELD tags",
				 r->map);
	for (int i = 0; i < btf_vlen(key) && status == 0; i++) {
		const char *member = annotation_name(r->btf, btf_members(key)[i].name_off);
		const struct label *label =
			label_at(&r->schema->labels, btf_member_bit_offset(key, (uint32_t)i) / 8);

		if (label)
			status = add_key_field(r, member,
					       annotation_of_member(r->btf, key_id, i, FIELD_TAG),
					       label);
	}
	return status;
}

static int check_subject(const struct fields_parser *r)
{
	const struct subject_tag *subject = &r->schema->subject;
	const char *why = NULL;

	if (subject->kind == SUBJECT_PROCESS)
		why = "rows of processes come from no FILE";
	else if (subject->sharded || subject->via[0] || subject->cpu)
		why = "sharded, via and cpu do not go with FILE";
	else if (r->fields->by_service && r->fields->file.root != KERNEL_FS_CGROUP)
		why = "rows of services come from files of their cgroups: FILE(\"cgroup:NAME\")";
	return why ? error_set(r->error, -EINVAL, "map %s: %s", r->map, why) : 0;
}

static int read_file_table(const struct fields_parser *r, const struct map_shape *map,
			   const char *text)
{
	struct fields *fields = r->fields;
	int row_id = btf__resolve_type(r->btf, map->value_type);
	int key_id = btf__resolve_type(r->btf, map->key_type);
	struct error why;
	int status = 0;

	if (row_id < 0 || key_id < 0)
		return error_set(r->error, -EINVAL, "map %s: its key or value has no type", r->map);
	if (file_tag_parse(text, &fields->file, &why))
		return error_set(r->error, -EINVAL, "map %s: FILE: %s", r->map, why.text);
	snprintf(fields->text, sizeof(fields->text), "%s%s",
		 fields->file.root == KERNEL_FS_PROC  ? "/proc/"
		 : fields->file.root == KERNEL_FS_SYS ? "/sys/"
						      : "cgroup:",
		 fields->file.path);
	fields->by_service = r->schema->subject.kind == SUBJECT_SERVICE;
	fields->by_key = r->schema->subject.kind == SUBJECT_KEY;
	fields->row_size = r->schema->row_size;
	fields->key_size = map->key_size;
	status = read_row_fields(r, (uint32_t)row_id);
	if (status == 0 && fields->by_key)
		status = read_key_fields(r, (uint32_t)key_id);
	return status ?: check_subject(r);
}

/* -EINVAL: the row has FIELD tags, but its map has no FILE. */
static int check_fileless(const struct fields_parser *r, const struct map_shape *map)
{
	int row_id = btf__resolve_type(r->btf, map->value_type);
	const struct btf_type *row = row_id < 0 ? NULL : btf__type_by_id(r->btf, (uint32_t)row_id);

	for (int i = 0; row && i < btf_vlen(row); i++)
		if (annotation_of_member(r->btf, (uint32_t)row_id, i, FIELD_TAG))
			return bad_field(r, annotation_name(r->btf, btf_members(row)[i].name_off),
					 "has a FIELD, but the map has no FILE");
	return 0;
}

int fields_read(struct fields **ret_fields, const struct btf *btf, const struct map_shape *map,
		const struct schema *schema, struct error *error)
{
	struct fields_parser r = { .btf = btf, .map = map->name, .schema = schema, .error = error };
	const char *text = annotation_on_variable(btf, r.map, FILE_TAG);
	int status;

	if (!text)
		return check_fileless(&r, map);
	r.fields = calloc(1, sizeof(*r.fields));
	if (!r.fields)
		return error_set(error, -ENOMEM, "map %s: no memory", r.map);
	status = read_file_table(&r, map, text);
	if (status) {
		free(r.fields);
		return status;
	}
	*ret_fields = r.fields;
	return 1;
}
