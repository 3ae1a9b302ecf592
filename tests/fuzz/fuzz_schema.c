/* SPDX-License-Identifier: MIT */
/*
 * BTF of an object whose author is hostile. The input is a list of choices by which types, members
 * and tags are made, so that nearly every input is BTF with something to read in it. Some inputs
 * are then damaged in fields that libbpf does not check. An input that starts as a BTF file is used
 * as one: each of its types is read as a row and each of its variables as a map.
 */
#include "fuzz.h"
#include "tags.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/event/event.h"
#include "plugin/schema/fields.h"
#include "plugin/schema/label_tags.h"
#include "plugin/schema/schema.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/schema/selection.h"
#include "plugin/schema/series.h"
#include "plugin/table/table.h"
#include "plugin/table/table_series.h"

#include <bpf/btf.h>

#define MAGIC 0xeb9f
#define TYPES_MAX 256 /* tried as rows; all types of a large file would take minutes */
#define MEMBERS_MAX 12
#define NOWHERE 9999

/* --- checks --- */

static void check_columns(const struct schema *schema)
{
	uint32_t cells = 0, moments = 0;

	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *c = &schema->columns[i];

		FUZZ_WANT(c->cell == cells && c->moments == moments);
		FUZZ_WANT((uint64_t)c->offset + (uint64_t)c->cells * c->cell_size <=
			  schema->row_size);
		FUZZ_WANT(c->offset % c->cell_size == 0);
		FUZZ_WANT(c->is_hidden || (c->tag.numerator && c->tag.denominator));
		FUZZ_WANT(!c->tag.per[0] || c->per < schema->column_count);
		FUZZ_WANT(!c->tag.per[0] || schema->columns[c->per].is_hidden);
		FUZZ_WANT(!c->tag.rank || schema->rank == i + 1);
		cells += c->cells;
		moments += c->kind == COLUMN_MOMENTS ? c->cells : 0;
	}
	FUZZ_WANT(schema->cells == cells && schema->moments == moments);
	FUZZ_WANT(schema->rank <= schema->column_count);
	for (size_t i = 0; i < schema->metric_count; i++)
		for (size_t j = 0; j < schema->metrics[i].source_count; j++)
			FUZZ_WANT(schema->metrics[i].column[j] < schema->column_count);
}

/* Each tail belongs to a histogram and is no column itself. */
static void check_tails(const struct schema *schema)
{
	for (size_t i = 0; i < schema->tail_count; i++) {
		const struct tail *tail = &schema->tails[i];

		FUZZ_WANT((uint64_t)tail->hist + HIST_CELLS * 8 <= schema->row_size);
		FUZZ_WANT((uint64_t)tail->member + 8 <= schema->row_size);
		FUZZ_WANT(tail->hist % 8 == 0 && tail->member % 8 == 0);
		for (size_t j = 0; j < i; j++)
			FUZZ_WANT(schema->tails[j].member != tail->member);
	}
}

/* If a table has a series, the same table cannot be registered twice. */
static void check_series(const struct schema *schema, enum subject_kind kind)
{
	static const struct config config = { .percentiles = { 50, 99.9 },
					      .percentile_count = 2,
					      .buckets = true };
	struct table table = { .name = "map", .schema = *schema, .rows = { .count = 2 } };
	struct registry registry = { 0 };
	struct subjects subjects = { 0 };
	struct error error = { "" };
	int status;

	table.schema.subject.kind = kind;
	status = table_register(&registry, &subjects, &table, "probe", &table, &config, &error);
	FUZZ_WANT(status == 0 || error.text[0]);
	if (status == 0 && schema->metric_count)
		FUZZ_WANT(table_register(&registry, &subjects, &table, "probe", &table, &config,
					 &error) < 0);
	registry_remove(&registry, &table);
	FUZZ_WANT(registry.count == 0);
	registry_done(&registry);
	subjects_done(&subjects);
}

/* Reads a type as that of a key. */
static void read_key(const struct btf *btf, uint32_t id)
{
	static const struct subject_tag subjects[] = {
		{ .kind = SUBJECT_KEY },
		{ .kind = SUBJECT_KEY, .cpu = true },
		{ .kind = SUBJECT_KEY, .label = "signal" },
	};
	static const unsigned char key[LABEL_KEY_SIZE_MAX];

	for (size_t i = 0; i < COUNT_OF(subjects); i++) {
		struct error error = { "" };
		struct labels labels;
		int64_t size = btf__resolve_size(btf, id);

		size = size < 0 || size > LABEL_KEY_SIZE_MAX ? LABEL_KEY_SIZE_MAX : size;
		if (labels_read(&labels, btf, "map", id, (uint32_t)size, &subjects[i], &error))
			FUZZ_WANT(error.text[0] && labels.count == 0);
		FUZZ_WANT(labels.count <= LABELS_MAX && labels.subject < (int)LABELS_MAX);
		for (size_t k = 0; k < labels.count; k++) {
			const struct label *label = &labels.label[k];
			char text[DECODE_TEXT_MAX], name[LABELS_TEXT_MAX];

			FUZZ_WANT((uint64_t)label->offset + label->size <= labels.key_size);
			if (!label->kind->name && !label->kind->name_bytes)
				continue;
			if (label_text(label, key, text) != NAME_FOUND)
				continue;
			label_clean(name, sizeof(name), text);
			FUZZ_WANT(name[0]);
		}
		labels_done(&labels);
	}
}

static void check_fields(const struct fields *fields, const struct schema *schema)
{
	FUZZ_WANT(fields->count <= TEXT_FIELDS_MAX);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->field[i];
		uint32_t room = field->of_key ? schema->labels.key_size : fields->row_size;

		FUZZ_WANT((uint64_t)field->offset + field->size <= room);
		FUZZ_WANT(field->of_key || field->column < schema->column_count);
		FUZZ_WANT(field->of_key || field->size == sizeof(uint64_t));
		FUZZ_WANT(fields->tag[i].is_match || fields->tag[i].word[0] ||
			  fields->tag[i].position);
	}
	FUZZ_WANT(!fields->by_key || !fields->by_service ||
		  fields->service_offset + sizeof(uint32_t) <= schema->labels.key_size);
}

/* Reads a type as the row of a text file, and as its key. */
static void read_fields(const struct btf *btf, const char *name, uint32_t id,
			const struct subject_tag *subject)
{
	int64_t size = btf__resolve_size(btf, id);
	struct map_shape map = { name, id, id, size < 0 ? 0 : (uint32_t)size, 0 };
	struct error error = { "" };
	struct fields *fields = NULL;
	struct schema schema;
	int status;

	if (schema_read(&schema, btf, name, id, dispatch_type, &error))
		return;
	schema.subject = *subject;
	status = subject->kind == SUBJECT_KEY
			 ? labels_read(&schema.labels, btf, name, id, map.key_size, subject, &error)
			 : 0;
	if (status == 0) {
		status = fields_read(&fields, btf, &map, &schema, &error);
		FUZZ_WANT(!error.text[0] == (status >= 0) && !fields == (status != 1));
	}
	if (fields)
		check_fields(fields, &schema);
	free(fields);
	schema_done(&schema);
}

/* Collects about half of the metrics; what remains must be consistent. */
static void select_and_check(struct schema *schema, uint32_t id, enum subject_kind kind)
{
	static const char *const words[] = { "default", "latency-*", "*-average", "gauge*", "*" };
	static const struct config config = { .percentiles = { 50 }, .percentile_count = 1 };
	char *one[] = { (char *)words[id % COUNT_OF(words)] }, *other[] = { (char *)"derive*" };
	struct strings collect = { one, 1 }, ignore = { other, id / COUNT_OF(words) % 2 };
	struct selection selection = { &config, &collect, &ignore, id % 3, NULL };

	schema->subject.kind = kind;
	FUZZ_WANT(selection_apply(&selection, schema) == 0);
	check_columns(schema);
	FUZZ_WANT(!schema->metric_count == !schema->column_count);
	FUZZ_WANT(kind != SUBJECT_KEY || !schema->column_count || schema->rank);
	for (size_t i = 0; i < schema->metric_count; i++)
		FUZZ_WANT(schema->metrics[i].series);
}

static void read_type(const struct btf *btf, uint32_t id, enum subject_kind kind)
{
	struct error error = { "" };
	struct schema schema;

	read_key(btf, id);
	if (schema_read(&schema, btf, "map", id, dispatch_type, &error) == 0) {
		check_columns(&schema);
		check_tails(&schema);
		if (kind != SUBJECT_NONE)
			check_series(&schema, kind);
		select_and_check(&schema, id + (uint32_t)schema.row_size / 8, kind);
	} else {
		FUZZ_WANT(error.text[0] && !schema.columns && !schema.metrics && !schema.tails);
	}
	schema_done(&schema);
}

/* Reads the SUBJECT tag of a map that has rows of this type. */
static enum subject_kind read_subject(const struct btf *btf, const char *map, uint32_t row)
{
	struct subject_tag subject;
	struct error error = { "" };

	if (schema_subject(btf, map, &subject, &error) == 0) {
		FUZZ_WANT(subject.kind != SUBJECT_NONE && !error.text[0]);
		read_fields(btf, map, row, &subject);
		return subject.kind;
	}
	FUZZ_WANT(error.text[0]);
	return SUBJECT_NONE;
}

/* Whether it has no control character, which would reach a terminal or a page. */
static bool is_harmless(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* record: has as many bytes as a record can have. */
static void read_event(const struct btf *btf, const char *map, uint32_t type, const void *record)
{
	struct error error = { "" };
	char text[EVENT_TEXT_MAX];
	struct event event;
	uint32_t row;
	int status = event_read(&event, btf, map, type, dispatch_type, &error);

	FUZZ_WANT(!error.text[0] == (status >= 0));
	if (status != 1) {
		FUZZ_WANT(!event.parts);
		return;
	}
	event_row(&event, record, &row);
	event_text(&event, record, "serv/ice\x1b<>", text, sizeof(text));
	FUZZ_WANT(strlen(text) < sizeof(text) && is_harmless(text));
	event_done(&event);
}

/* --- BTF by choices --- */

/* Types of members, in base BTF that all inputs use. */
static int common_types[32];
static unsigned common_count;

static void add_common_type(int id)
{
	FUZZ_WANT(id > 0 && common_count < COUNT_OF(common_types));
	common_types[common_count++] = id;
}

static struct btf *common_btf(void)
{
	static struct btf *btf;
	int u64;

	if (btf)
		return btf;
	btf = btf__new_empty();
	u64 = btf__add_int(btf, "u64", 8, 0);
	add_common_type(u64);
	add_common_type(btf__add_int(btf, "s64", 8, BTF_INT_SIGNED));
	add_common_type(btf__add_int(btf, "u32", 4, 0));
	add_common_type(btf__add_int(btf, "s16", 2, BTF_INT_SIGNED));
	add_common_type(btf__add_int(btf, "bool", 1, BTF_INT_BOOL));
	add_common_type(btf__add_int(btf, "u128", 16, 0));
	add_common_type(btf__add_struct(btf, "moments", MOMENTS_CELLS * 8));
	add_common_type(btf__add_struct(btf, "hist", HIST_CELLS * 8));
	add_common_type(btf__add_struct(btf, "moments", 8));
	add_common_type(btf__add_struct(btf, "hist", 8));
	add_common_type(btf__add_struct(btf, "other", 8));
	add_common_type(btf__add_union(btf, "moments", MOMENTS_CELLS * 8));
	add_common_type(btf__add_enum(btf, "color", 4));
	add_common_type(btf__add_enum64(btf, "wide", 8, false));
	add_common_type(btf__add_float(btf, "double", 8));
	add_common_type(btf__add_ptr(btf, u64));
	add_common_type(btf__add_array(btf, u64, u64, 2));
	add_common_type(
		btf__add_typedef(btf, "alias", btf__add_volatile(btf, btf__add_const(btf, u64))));
	add_common_type(btf__add_typedef(btf, "loop", (int)btf__type_cnt(btf)));
	add_common_type(btf__add_typedef(btf, "nowhere", NOWHERE));
	add_common_type(btf__add_fwd(btf, "later", BTF_FWD_STRUCT));
	return btf;
}

/* FILE and FIELD tags: of a map in most cases, and of most of its members. */
static void add_file(struct btf *btf, struct choices *choices, int row, int map, unsigned members)
{
	char text[512];

	for (unsigned i = choose(choices, 8) / 3; i; i--) {
		make_file(choices, text, sizeof(text));
		btf__add_decl_tag(btf, text, map, -1);
	}
	for (unsigned i = 0; i < members && choose(choices, 8); i++) {
		make_field(choices, text, sizeof(text));
		btf__add_decl_tag(btf, text, row, (int)i);
	}
}

static const char *member_name(unsigned i)
{
	static const char names[][2] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k" };

	return i < COUNT_OF(names) ? names[i] : "";
}

/* In most cases at the offset that a compiler would choose. */
static void add_random_member(struct btf *btf, struct choices *choices, unsigned i,
			      uint32_t *offset)
{
	int type = common_types[choose(choices, common_count)];
	int64_t size = btf__resolve_size(btf, (uint32_t)type);
	unsigned position = choose(choices, 16);
	uint32_t bits = *offset * 8;

	if (position == 0)
		bits = choose_number(choices) & 0xffffff;
	btf__add_field(btf, member_name(i), type, bits,
		       position == 1 ? 1 + choose(choices, 32) : 0);
	*offset += size > 0 && size < 1 << 20 ? ((uint32_t)size + 7) / 8 * 8 : 8;
}

/* Damages what libbpf does not check: names, references, offsets, and which member a tag belongs
 * to. */
static void spoil(struct btf *btf, struct choices *choices, uint32_t first)
{
	uint32_t id = first + choose(choices, btf__type_cnt(btf) - first);
	struct btf_type *type = (struct btf_type *)btf__type_by_id(btf, id);
	uint32_t value = choose_number(choices);

	switch (choose(choices, 4)) {
	case 0:
		type->name_off = value;
		break;
	case 1:
		type->type = value; /* or its size */
		break;
	case 2:
		if (btf_is_decl_tag(type))
			btf_decl_tag(type)->component_idx = (int)value;
		break;
	default:
		if (btf_is_struct(type) && btf_vlen(type))
			btf_members(type)[value % btf_vlen(type)].offset = value;
	}
}

/* Uses only choices that are not needed otherwise. */
static void make_and_read_event(struct btf *btf, struct choices *choices, int row, int map)
{
	unsigned char record[4096] = { 0 };
	char text[512];

	for (unsigned i = choose(choices, 8) / 3; i; i--) {
		make_event(choices, text, sizeof(text));
		btf__add_decl_tag(btf, text, map, -1);
	}
	for (unsigned i = choose(choices, 4); i; i--)
		btf__add_decl_tag(btf, i == 3 ? "label:none" : "label:service", row,
				  (int)choose(choices, MEMBERS_MAX));
	for (size_t i = 0; i < sizeof(record) && choices->at < choices->end; i++)
		record[i] = *choices->at++;
	read_event(btf, "map", (uint32_t)row, record);
}

static void make_and_read(struct choices choices)
{
	struct btf *btf = btf__new_empty_split(common_btf());
	uint32_t first = btf__type_cnt(btf), offset = 0;
	unsigned members = choose(&choices, MEMBERS_MAX), spoilt = choose(&choices, 16);
	enum subject_kind kind;
	int row, map;
	char text[512];

	row = btf__add_struct(btf, "row", 0);
	for (unsigned i = 0; i < members; i++)
		add_random_member(btf, &choices, i, &offset);
	((struct btf_type *)btf__type_by_id(btf, (uint32_t)row))->size =
		choose(&choices, 16) ? offset : choose_number(&choices);
	map = btf__add_var(btf, "map", BTF_VAR_GLOBAL_ALLOCATED, row);
	for (unsigned i = choose(&choices, 8) / 3; i; i--) {
		make_subject(&choices, text, sizeof(text));
		btf__add_decl_tag(btf, text, map, -1);
	}
	for (unsigned i = 0; i < members; i++) {
		unsigned tags = choose(&choices, 8);

		for (tags = tags < 6 ? 1 : tags - 5; tags && choices.at < choices.end; tags--) {
			make_metric(&choices, text, sizeof(text));
			btf__add_decl_tag(btf, text, row, (int)i);
			if (tags % 3 == 2)
				btf__add_decl_tag(btf, "default:off", row, (int)i);
		}
	}
	for (unsigned i = 0; i < members && choose(&choices, 2); i++) {
		make_label(&choices, text, sizeof(text));
		btf__add_decl_tag(btf, text, row, (int)i);
	}
	if (choose(&choices, 2))
		add_file(btf, &choices, row, map, members);
	for (unsigned i = spoilt > 12 ? spoilt - 12 : 0; i; i--)
		spoil(btf, &choices, first);
	kind = read_subject(btf, "map", (uint32_t)row);
	/* Takes longer than all other kinds. */
	read_type(btf, (uint32_t)row, choose(&choices, 8) == 7 ? kind : SUBJECT_NONE);
	make_and_read_event(btf, &choices, row, map);
	btf__free(btf);
}

/* --- BTF of a file --- */

/* Its header is changed to fit the size: libbpf refuses any other, and no mutation would come
 * further. Types extend as far as the header says, within the size; strings are what follows. */
static struct btf *parse(const uint8_t *data, size_t size)
{
	struct btf_header header;
	struct btf *btf;
	uint8_t *copy;

	memcpy(&header, data, sizeof(header));
	size -= sizeof(header);
	header.magic = MAGIC;
	header.version = 1;
	header.hdr_len = sizeof(header);
	header.type_off = 0;
	header.type_len = header.type_len <= size ? header.type_len & ~3U : 0;
	header.str_off = header.type_len;
	header.str_len = (uint32_t)size - header.type_len;
	copy = malloc(sizeof(header) + size);
	if (!copy)
		abort();
	memcpy(copy, &header, sizeof(header));
	memcpy(copy + sizeof(header), data + sizeof(header), size);
	if (header.str_len) {
		copy[sizeof(header) + header.type_len] = '\0';
		copy[sizeof(header) + size - 1] = '\0';
	}
	btf = btf__new(copy, (uint32_t)(sizeof(header) + size));
	free(copy);
	return btf;
}

static void parse_and_read(const uint8_t *data, size_t size)
{
	struct btf *btf = parse(data, size);
	uint32_t count = btf ? btf__type_cnt(btf) : 0;
	static const unsigned char record[4096];

	for (uint32_t id = 0; id < count && id < TYPES_MAX; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, type->name_off);

		read_type(btf, id, SUBJECT_NONE);
		if (!btf_is_var(type) || !name)
			continue;
		read_subject(btf, name, type->type);
		read_event(btf, name, type->type, record);
	}
	btf__free(btf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= sizeof(struct btf_header) && data[0] == (MAGIC & 0xff))
		parse_and_read(data, size);
	else
		make_and_read((struct choices){ data, data + size });
	return 0;
}
