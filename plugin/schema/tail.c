/* SPDX-License-Identifier: MIT */
/*
 * The word tail= of METRIC: which member of a row the percentile of which histogram is written
 * into.
 */
#include "tail.h"

#include "object/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The index of a member; btf_vlen(): there is none. */
static int find_tail_member(const struct btf *btf, const struct btf_type *row, const char *name)
{
	int i = 0;

	while (i < btf_vlen(row) &&
	       strcmp(annotation_name(btf, btf_members(row)[i].name_off), name) != 0)
		i++;
	return i;
}

static bool is_column(const struct schema *schema, int member)
{
	for (size_t i = 0; i < schema->column_count; i++)
		if (!schema->columns[i].is_hidden && schema->columns[i].member == member)
			return true;
	return false;
}

static bool is_tail_member(const struct schema *schema, uint32_t offset)
{
	for (size_t i = 0; i < schema->tail_count; i++)
		if (schema->tails[i].member == offset)
			return true;
	return false;
}

/* Is the member a 64-bit integer inside the row? */
static bool can_have_tail(const struct btf *btf, const struct btf_type *row, int member)
{
	int type = btf__resolve_type(btf, btf_members(row)[member].type);
	const struct btf_type *resolved = type < 0 ? NULL : btf__type_by_id(btf, (uint32_t)type);
	uint32_t bits = btf_member_bit_offset(row, (uint32_t)member);

	return resolved && btf_is_int(resolved) && resolved->size == sizeof(uint64_t) &&
	       !btf_member_bitfield_size(row, (uint32_t)member) && bits % 64 == 0 &&
	       (uint64_t)bits / 8 + sizeof(uint64_t) <= row->size;
}

static bool find_tail(const struct schema *schema, const struct btf *btf,
		      const struct btf_type *row, const struct column *column,
		      struct tail *ret_tail)
{
	int member = find_tail_member(btf, row, column->tag.tail);

	if (member == btf_vlen(row) || !can_have_tail(btf, row, member) ||
	    is_column(schema, member))
		return false;
	ret_tail->hist = column->offset;
	ret_tail->member = btf_member_bit_offset(row, (uint32_t)member) / 8;
	return !is_tail_member(schema, ret_tail->member);
}

static int add_tail(struct schema *schema, const struct tail *tail)
{
	struct tail *grown =
		reallocarray(schema->tails, schema->tail_count + 1, sizeof(*schema->tails));

	if (!grown)
		return -ENOMEM;
	schema->tails = grown;
	schema->tails[schema->tail_count++] = *tail;
	return 0;
}

int tails_find(struct schema *schema, const struct btf *btf, const struct btf_type *row,
	       const char *map, struct error *error)
{
	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *column = &schema->columns[i];
		const char *name = column->tag.tail;
		struct tail tail;

		if (!name[0])
			continue;
		if (!find_tail(schema, btf, row, column, &tail))
			return error_set(
				error, -EINVAL,
				"map %s, member %s: tail=%s is to be written there, which "
				"needs a member \"u64 %s\" of the same row, without METRIC "
				"and for no other tail=",
				map,
				annotation_name(btf, btf_members(row)[column->member].name_off),
				name, name);
		if (add_tail(schema, &tail))
			return error_set(error, -ENOMEM, "map %s: no memory", map);
	}
	return 0;
}
