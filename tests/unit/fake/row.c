/* SPDX-License-Identifier: MIT */
/*
 * Rows as a probe's object would describe them, without an object.
 */
#include "row.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/table/keys.h"
#include "plugin/table/tail_percentile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NO_TYPE 9999

static int added(int id)
{
	if (id < 0) {
		fprintf(stderr, "libbpf refuses synthetic BTF: %d\n", id);
		abort();
	}
	return id;
}

static int add_struct(struct btf *btf, const char *name, uint32_t size)
{
	return added(btf__add_struct(btf, name, size));
}

/* A type of each kind. */
static void add_types(struct btf *btf, int *ids)
{
	static const struct {
		enum row_type type;
		const char *name;
		uint32_t size;
		int encoding;
	} ints[] = {
		{ ROW_U8, "unsigned char", 1, 0 },
		{ ROW_U16, "unsigned short", 2, 0 },
		{ ROW_U32, "unsigned int", 4, 0 },
		{ ROW_U64, "unsigned long long", 8, 0 },
		{ ROW_S8, "signed char", 1, BTF_INT_SIGNED },
		{ ROW_S16, "short", 2, BTF_INT_SIGNED },
		{ ROW_S32, "int", 4, BTF_INT_SIGNED },
		{ ROW_S64, "long long", 8, BTF_INT_SIGNED },
		{ ROW_BOOL, "_Bool", 1, BTF_INT_BOOL },
		{ ROW_U128, "unsigned __int128", 16, 0 },
	};
	int id;

	for (size_t i = 0; i < sizeof(ints) / sizeof(*ints); i++)
		ids[ints[i].type] =
			added(btf__add_int(btf, ints[i].name, ints[i].size, ints[i].encoding));
	ids[ROW_ENUM] = added(btf__add_enum(btf, "color", 4));
	added(btf__add_enum_value(btf, "red", 1));
	ids[ROW_ENUM64] = added(btf__add_enum64(btf, "wide", 8, false));
	added(btf__add_enum64_value(btf, "wide_red", 1ULL << 40));
	id = added(btf__add_typedef(btf, "__u64", ids[ROW_U64]));
	id = added(btf__add_volatile(btf, id));
	id = added(btf__add_const(btf, id));
	ids[ROW_ALIAS] = added(btf__add_typedef(btf, "u64", id));
	ids[ROW_MOMENTS] = add_struct(btf, "moments", MOMENTS_CELLS * 8);
	ids[ROW_MOMENTS_ALIAS] = added(btf__add_typedef(btf, "moments_t", ids[ROW_MOMENTS]));
	ids[ROW_HIST] = add_struct(btf, "hist", HIST_SIZE);
	ids[ROW_SHORT_MOMENTS] = add_struct(btf, "moments", 8);
	ids[ROW_SHORT_HIST] = add_struct(btf, "hist", 8);
	ids[ROW_OTHER_STRUCT] = add_struct(btf, "other", 8);
	added(btf__add_field(btf, "x", ids[ROW_U64], 0, 0));
	ids[ROW_UNION] = added(btf__add_union(btf, "either", 8));
	ids[ROW_DOUBLE] = added(btf__add_float(btf, "double", 8));
	ids[ROW_POINTER] = added(btf__add_ptr(btf, ids[ROW_U64]));
	ids[ROW_ARRAY] = added(btf__add_array(btf, ids[ROW_U32], ids[ROW_U64], 2));
	ids[ROW_LOOP] = added(btf__add_typedef(btf, "loop", (int)btf__type_cnt(btf)));
	ids[ROW_MISSING] = added(btf__add_typedef(btf, "missing", NO_TYPE));
	ids[ROW_VOID] = 0;
}

/* libbpf never makes an offset between bytes without the size of a bit field, but a file may
 * have one. */
static void add_row_member(struct btf *btf, const struct row_member *member, int type, uint32_t row,
			   size_t i)
{
	uint32_t bits = 8 * member->offset;

	if (member->bit_size) {
		added(btf__add_field(btf, member->name, type, bits + member->bit,
				     member->bit_size));
		return;
	}
	added(btf__add_field(btf, member->name, type, bits, 0));
	btf_members(btf__type_by_id(btf, row))[i].offset += member->bit;
}

static void add_tag(struct btf *btf, const char *word, const char *tag, int row, int member)
{
	char text[1024];

	if (!tag)
		return;
	snprintf(text, sizeof(text), "%s:%s", word, tag);
	added(btf__add_decl_tag(btf, text, row, member));
}

static void add_tags(struct btf *btf, const struct row_member *members, size_t count, bool reverse,
		     int row)
{
	for (size_t i = 0; i < count; i++) {
		size_t member = reverse ? count - 1 - i : i;

		add_tag(btf, "default", members[member].state, row, (int)member);
		add_tag(btf, "metric", members[member].tag, row, (int)member);
	}
}

static int count_tags(const struct row_member *members, size_t count)
{
	int tags = 0;

	for (size_t i = 0; i < count; i++)
		tags += (members[i].tag != NULL) + (members[i].state != NULL);
	return tags;
}

struct btf *row_btf(const struct row_member *members, size_t count, uint32_t size, bool reverse,
		    uint32_t *ret_row)
{
	struct btf *btf = btf__new_empty();
	int ids[ROW_TYPES], row;

	if (!btf)
		abort();
	add_types(btf, ids);
	if (reverse)
		add_tags(btf, members, count, true,
			 (int)btf__type_cnt(btf) + count_tags(members, count));
	row = add_struct(btf, "row", size);
	for (size_t i = 0; i < count; i++)
		add_row_member(btf, &members[i], ids[members[i].type], (uint32_t)row, i);
	if (!reverse)
		add_tags(btf, members, count, false, row);
	*ret_row = (uint32_t)row;
	return btf;
}

void *row_table(struct table *table, const struct row_member *members, size_t count, uint32_t size,
		uint32_t rows, enum subject_kind subject)
{
	struct error error = { "" };
	uint32_t row;
	struct btf *btf = row_btf(members, count, size, false, &row);
	void *memory;

	*table = (struct table){ .name = "rows" };
	table->rows = (struct rows){ .count = rows, .shards = 1, .stride = (size + 7) / 8 * 8 };
	if (schema_read(&table->schema, btf, "rows", row, dispatch_type, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	btf__free(btf);
	table->schema.subject.kind = subject;
	table->rows.mapping.size = table->rows.stride * rows;
	memory = mmap(NULL, table->rows.mapping.size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED ||
	    mapping_make(&table->previous,
			 ((size_t)rows + 1) * table->schema.cells * sizeof(uint64_t)))
		abort();
	table->rows.mapping.start = memory;
	if (tails_start(table, &error))
		abort();
	return memory;
}

void row_table_shards(struct table *table, uint32_t rows, uint32_t shards)
{
	table->rows.count = rows;
	table->rows.shards = shards;
}

void row_table_slots(struct table *table, uint64_t *via, uint64_t *owners)
{
	strcpy(table->schema.subject.via, "via");
	table->rows.via.mapping.start = via;
	table->rows.owners.mapping.start = owners;
}

void row_table_grants(struct table *table, uint32_t reserved, uint32_t user_first)
{
	table->rows.by_grant = true;
	table->rows.reserved = reserved;
	table->rows.user_first = user_first;
}

void row_table_subject(struct table *table, enum subject_kind kind)
{
	table->schema.subject.kind = kind;
}

void row_table_keys(struct table *table, const struct labels *labels, const struct source *source,
		    uint32_t shown_max)
{
	table->schema.labels = *labels;
	table->rows.source = source;
	table->keys.shown_max = shown_max;
}

void row_table_shown(struct table *table, uint32_t shown_max)
{
	keys_done(&table->keys);
	table->keys.shown_max = shown_max;
}

void row_table_choose(struct table *table, size_t label, const struct strings *globs)
{
	table->keys.choice.globs[label] = globs;
}

void row_table_labels(struct table *table, const struct labels *labels)
{
	table->schema.labels = *labels;
}

void row_table_series(struct table *table, uint32_t series)
{
	for (size_t i = 0; i < table->schema.metric_count; i++)
		table->schema.metrics[i].series = series;
}

void row_table_instance(struct table *table, size_t column, const char *instance)
{
	snprintf(table->schema.columns[column].tag.instance, TAG_TEXT_MAX, "%s", instance);
}

void row_table_column_kind(struct table *table, size_t column, enum column_kind kind)
{
	table->schema.columns[column].kind = kind;
}
