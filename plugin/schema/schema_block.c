/* SPDX-License-Identifier: MIT */
/*
 * From the Value blocks of a Table block to columns. A named value is a member of the map's value
 * type if the object's BTF has one; otherwise the block says where it lies.
 */
#include "schema_block.h"

#include "label_block.h"
#include "schema_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_SIZE_MAX (1U << 20)
#define UNNAMED "the value"

static const struct value_config *value_block(const struct schema_parser *r, int i)
{
	return &r->block->values[i];
}

static const char *value_name(const struct schema_parser *r, int i)
{
	const char *name = value_block(r, i)->name;

	return name[0] ? name : UNNAMED;
}

static int find_value(const struct schema_parser *r, const char *name)
{
	for (size_t i = 0; i < r->block->value_count; i++)
		if (!strcmp(r->block->values[i].name, name))
			return (int)i;
	return -1;
}

/* The type of a value in BTF: a member of the struct, or the whole value if that is an integer.
 * NULL: BTF does not describe it. */
static const struct btf_type *find_value_type(const struct schema_parser *r,
					      const struct value_config *value, uint32_t *ret_bits)
{
	int member = r->row && btf_is_struct(r->row) ? schema_find_member(r, value->name) : -1;
	uint32_t id;

	*ret_bits = 0;
	if (member < 0)
		return r->row && !value->name[0] && !btf_is_struct(r->row) ? r->row : NULL;
	id = btf_members(r->row)[member].type;
	*ret_bits = btf_member_bitfield_size(r->row, (uint32_t)member)
			    ? 1
			    : btf_member_bit_offset(r->row, (uint32_t)member);
	return btf__type_by_id(r->btf, (uint32_t)btf__resolve_type(r->btf, id));
}

/* Sets size and sign from an integer type of BTF, or an array of integers. */
static int set_integer_type(const struct schema_parser *r, int i, const struct btf_type *type,
			    uint32_t *ret_count, struct column *column)
{
	const struct btf_array *array = btf_is_array(type) ? btf_array(type) : NULL;
	int element = array ? btf__resolve_type(r->btf, array->type) : 0;

	if (array)
		type = element < 0 ? NULL : btf__type_by_id(r->btf, (uint32_t)element);
	if (!type || (!btf_is_int(type) && !btf_is_any_enum(type)))
		return schema_bad(r, value_name(r, i),
				  "is not an integer; give the Type and Offset of one");
	*ret_count = array ? array->nelems : 0;
	column->cell_size = type->size;
	column->is_signed = btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED;
	return 0;
}

static int locate_by_btf(const struct schema_parser *r, int i, uint32_t *ret_count,
			 struct column *column)
{
	const struct value_config *value = value_block(r, i);
	uint32_t bits;
	const struct btf_type *type = find_value_type(r, value, &bits);

	if (!type && value->name[0])
		return schema_bad(r, value->name,
				  "the map's value has no member of this name in BTF; give its "
				  "Type and Offset");
	if (bits % 8)
		return schema_bad(r, value->name, "bit fields cannot be metrics");
	column->offset = bits / 8;
	if (type)
		return set_integer_type(r, i, type, ret_count, column);
	column->cell_size = r->schema->row_size;
	return 0;
}

static void locate_by_type(const struct value_config *value, uint32_t *ret_count,
			   struct column *column)
{
	column->cell_size = (uint32_t)atoi(value->type + 1) / 8;
	column->is_signed = value->type[0] == 's';
	column->offset = value->offset;
	*ret_count = value->count;
}

/* Parses the Histogram line of a value; the schema owns the buckets. */
static int set_buckets(const struct schema_parser *r, int i, uint32_t count, struct column *column)
{
	const struct value_config *value = value_block(r, i);
	struct buckets *buckets = calloc(1, sizeof(*buckets)), **grown;
	struct schema *schema = r->schema;
	struct error why;
	int status;

	grown = reallocarray(schema->buckets, schema->bucket_count + 1, sizeof(*grown));
	if (grown)
		schema->buckets = grown;
	if (!grown || !buckets) {
		free(buckets);
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	}
	schema->buckets[schema->bucket_count++] = buckets;
	status = buckets_parse(&value->histogram, buckets, &why);
	if (status)
		return schema_bad(r, value_name(r, i), why.text);
	column->kind = COLUMN_BUCKETS;
	column->buckets = buckets;
	column->cells = buckets->count + 1;
	column->is_spread = schema->labels.has_bucket;
	if (column->is_spread && count)
		return schema_bad(r, value_name(r, i),
				  "is an array, and the key has the number of the bucket, too");
	if (!column->is_spread && !count)
		return schema_bad(
			r, value_name(r, i),
			"has a Histogram, but is not an array, and no Key block has Decode "
			"\"bucket\"");
	if (!column->is_spread && count < buckets->count)
		return schema_bad(r, value_name(r, i), "has fewer elements than its Histogram");
	column->width = column->is_spread ? 1 : count < column->cells ? count : column->cells;
	return 0;
}

static int locate_value(const struct schema_parser *r, int i, struct column *column)
{
	const struct value_config *value = value_block(r, i);
	uint32_t count = 0, size = r->schema->row_size;
	int status = 0;

	if (value->type[0])
		locate_by_type(value, &count, column);
	else if (value->offset_set || value->count)
		return schema_bad(r, value_name(r, i), "Offset and Count need a Type");
	else
		status = locate_by_btf(r, i, &count, column);
	if (status)
		return status;
	if (column->cell_size != 1 && column->cell_size != 2 && column->cell_size != 4 &&
	    column->cell_size != 8)
		return schema_bad(r, value_name(r, i),
				  "only integers of 1, 2, 4 or 8 bytes can be metrics");
	column->kind = COLUMN_INTEGER;
	column->cells = column->width = 1;
	if (value->histogram.count)
		status = set_buckets(r, i, count, column);
	else if (count)
		status = schema_bad(r, value_name(r, i), "is an array, which needs a Histogram");
	else if (r->schema->labels.has_bucket)
		status = schema_bad(r, value_name(r, i),
				    "a Key block has Decode \"bucket\", so it needs a Histogram");
	if (status)
		return status;
	/* Rows are copied without gaps between them, so a column is only aligned in each of them if
	 * the size of a row is a multiple of the column's, too. */
	if (column->offset % column->cell_size || size % column->cell_size)
		return schema_bad(r, value_name(r, i), "is not aligned");
	if ((uint64_t)column->offset + (uint64_t)column->width * column->cell_size > size)
		return schema_bad(r, value_name(r, i), "lies outside of the value");
	return 0;
}

static int check_value_tags(const struct schema_parser *r, size_t first)
{
	const struct schema *schema = r->schema;

	for (size_t i = first; i < schema->column_count; i++)
		if (schema->columns[i].tag.tail[0])
			return schema_bad(r, value_name(r, schema->columns[i].member),
					  "tail= is only for tags");
	return 0;
}

static int add_values(const struct schema_parser *r)
{
	int status = 0;

	for (size_t i = 0; i < r->block->value_count && status == 0; i++)
		if (r->block->values[i].metric)
			status = schema_add(r, (int)i, r->block->values[i].metric);
	status = status ?: check_value_tags(r, 0);
	if (status == 0 && r->schema->column_count == 0)
		status = error_set(r->error, -EINVAL,
				   "map %s: its Table block has no Value block with a Metric",
				   r->map);
	return status;
}

int schema_describe(struct schema *schema, const struct btf *btf, const struct map_shape *map,
		    const struct table_config *block, type_lookup *lookup, struct error *error)
{
	int type = map->value_type ? btf__resolve_type(btf, map->value_type) : -1;
	const struct schema_parser parser = {
		.schema = schema,
		.map = map->name,
		.lookup = lookup,
		.error = error,
		.name = value_name,
		.find = find_value,
		.locate = locate_value,
		.btf = btf,
		.row = type < 0 ? NULL : btf__type_by_id(btf, (uint32_t)type),
		.block = block,
	};
	int status;

	*schema = (struct schema){ .subject = { .kind = SUBJECT_KEY,
						.cpu = block->each_cpu,
						.is_described = true,
						.entries = block->entries },
				   .row_size = map->value_size };
	if (map->value_size > VALUE_SIZE_MAX)
		return error_set(error, -E2BIG, "map %s: a row of more than 1 MiB", map->name);
	status = labels_describe(&schema->labels, btf, map, block, error);
	status = status ?: add_values(&parser);
	status = status ?: schema_finish(&parser);
	if (status)
		schema_done(schema);
	return status;
}
