/* SPDX-License-Identifier: MIT */
/*
 * BTF as a file has it: every type as a row, every variable as a map. Its header is made to fit
 * the size, as libbpf refuses all else and no mutation would come further.
 */
#include "fuzz.h"

#include "plugin/dispatch.h"
#include "plugin/schema.h"

#include <bpf/btf.h>

#define TYPES_MAX 256 /* that are tried as rows: all of a large file would take minutes */

/* Types end where the header says, as far as there is room; the rest are strings. */
static struct btf *parse(const uint8_t *data, size_t size)
{
	struct btf_header header;
	struct btf *btf;
	uint8_t *copy;

	if (size < sizeof(header))
		return NULL;
	memcpy(&header, data, sizeof(header));
	size -= sizeof(header);
	header.magic = 0xeb9f;
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

static void check_columns(const struct schema *schema)
{
	uint32_t cells = 0;

	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *c = &schema->columns[i];

		FUZZ_WANT(c->cell == cells);
		FUZZ_WANT((uint64_t)c->offset + (uint64_t)c->cells * c->cell_size <=
			  schema->row_size);
		FUZZ_WANT(c->offset % c->cell_size == 0);
		FUZZ_WANT(c->is_hidden || (c->tag.numerator && c->tag.denominator));
		FUZZ_WANT(!c->tag.per[0] ||
			  (c->per < schema->column_count && schema->columns[c->per].is_hidden));
		cells += c->cells;
	}
	FUZZ_WANT(schema->cells == cells);
	for (size_t i = 0; i < schema->metric_count; i++)
		for (size_t j = 0; j < schema->metrics[i].source_count; j++)
			FUZZ_WANT(schema->metrics[i].column[j] < schema->column_count);
}

static void read_type(const struct btf *btf, uint32_t id)
{
	struct error error = { "" };
	struct schema schema;

	if (schema_read(&schema, btf, "map", id, dispatch_type, &error) == 0)
		check_columns(&schema);
	else
		FUZZ_WANT(error.text[0] && !schema.columns && !schema.metrics);
	schema_done(&schema);
}

static void read_variable(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = btf__name_by_offset(btf, type->name_off);
	struct subject_tag subject;
	struct error error = { "" };

	if (btf_is_var(type) && name && schema_subject(btf, name, &subject, &error))
		FUZZ_WANT(error.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf *btf = parse(data, size);
	uint32_t count = btf ? btf__type_cnt(btf) : 0;

	for (uint32_t id = 0; id < count && id < TYPES_MAX; id++) {
		read_type(btf, id);
		read_variable(btf, id);
	}
	btf__free(btf);
	return 0;
}
