/* SPDX-License-Identifier: MIT */
/*
 * plugin/config/table_block.c and plugin/schema/schema_block.c: columns from Table blocks.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/configuration.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema_block.h"

#include <bpf/btf.h>
#include <errno.h>

#define TEXT_MAX 2048

static struct config config;

/* struct value { u32 once; s16 below; u64 bits : 3; u32 slots[8]; char name[4]; } */
static struct btf *value_btf(uint32_t *ret_type, uint32_t *ret_plain)
{
	struct btf *btf = btf__new_empty();
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int s16 = btf__add_int(btf, "short", 2, BTF_INT_SIGNED);
	int u64 = btf__add_int(btf, "unsigned long", 8, 0);
	int byte = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	int slots = btf__add_array(btf, u32, u32, 8), name = btf__add_array(btf, u32, byte, 4);

	*ret_plain = (uint32_t)u64;
	*ret_type = (uint32_t)btf__add_struct(btf, "value", 56);
	btf__add_field(btf, "once", u32, 0, 0);
	btf__add_field(btf, "below", s16, 32, 0);
	btf__add_field(btf, "bits", u64, 64, 3);
	btf__add_field(btf, "slots", slots, 128, 0);
	btf__add_field(btf, "name", name, 384, 0);
	return btf;
}

enum shape { STRUCT, PLAIN, BARE };

static int describe(const char *lines, enum shape shape, struct schema *ret_schema,
		    struct error *error)
{
	uint32_t type, plain;
	struct btf *btf = value_btf(&type, &plain);
	const struct map_shape map = {
		.name = "m",
		.key_size = 8,
		.value_type = shape == STRUCT  ? type
			      : shape == PLAIN ? plain
					       : 0,
		.value_size = shape == PLAIN ? 8 : 56,
	};
	char text[TEXT_MAX];
	int status;

	snprintf(text, sizeof(text), "<Probe \"p\">\n<Table \"m\">\n%s\n</Table>\n</Probe>\n",
		 lines);
	CHECK_INT(read_text(&config, text), 0);
	status = schema_describe(ret_schema, btf, &map, config_table(&config.probes[0], "m"),
				 dispatch_type, error);
	btf__free(btf);
	return status;
}

static void test_columns(void)
{
	static const struct {
		const char *lines;
		enum shape shape;
		struct column want; /* only the first one */
	} cases[] = {
		{ "<Value>\nMetric \"derive-a\"\n</Value>",
		  PLAIN,
		  { .kind = COLUMN_INTEGER, .cell_size = 8, .cells = 1, .width = 1 } },
		{ "<Value \"once\">\nMetric \"derive-a\"\n</Value>",
		  STRUCT,
		  { .kind = COLUMN_INTEGER, .cell_size = 4, .cells = 1, .width = 1 } },
		{ "<Value \"below\">\nMetric \"gauge-a\"\n</Value>",
		  STRUCT,
		  { .kind = COLUMN_INTEGER,
		    .cell_size = 2,
		    .cells = 1,
		    .width = 1,
		    .offset = 4,
		    .is_signed = true } },
		{ "<Value>\nType \"s32\"\nOffset 12\nMetric \"gauge-a\"\n</Value>",
		  BARE,
		  { .kind = COLUMN_INTEGER,
		    .cell_size = 4,
		    .cells = 1,
		    .width = 1,
		    .offset = 12,
		    .is_signed = true } },
		{ "<Value \"slots\">\nMetric \"latency-a\"\nHistogram \"exp2\" 1 7\n</Value>",
		  STRUCT,
		  { .kind = COLUMN_BUCKETS,
		    .cell_size = 4,
		    .cells = 8,
		    .width = 8,
		    .offset = 16 } },
		{ "<Value>\nType \"u32\"\nCount 8\nMetric \"latency-a\"\nHistogram \"linear\" 0 "
		  "7\n</Value>",
		  BARE,
		  { .kind = COLUMN_BUCKETS, .cell_size = 4, .cells = 9, .width = 8 } },
		{ "<Key \"b\">\nSize 8\nDecode \"bucket\"\n</Key>\n<Value>\nMetric "
		  "\"latency-a\"\nHistogram \"fixed\" 5 10\n</Value>",
		  PLAIN,
		  { .kind = COLUMN_BUCKETS,
		    .cell_size = 8,
		    .cells = 3,
		    .width = 1,
		    .is_spread = true } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct column *want = &cases[i].want;
		struct error error = { "" };
		struct schema schema;

		CASE("%s", cases[i].lines);
		CHECK_INT(describe(cases[i].lines, cases[i].shape, &schema, &error), 0);
		CHECK_TEXT(error.text, "");
		CHECK_UINT(schema.column_count, 1);
		if (schema.column_count == 1) {
			const struct column *got = &schema.columns[0];

			CHECK_INT(got->kind, want->kind);
			CHECK_UINT(got->cell_size, want->cell_size);
			CHECK_UINT(got->cells, want->cells);
			CHECK_UINT(got->width, want->width);
			CHECK_UINT(got->offset, want->offset);
			CHECK_INT(got->is_signed, want->is_signed);
			CHECK_INT(got->is_spread, want->is_spread);
			CHECK_UINT(schema.row_cells, want->width);
		}
		CHECK_INT(schema.subject.kind, SUBJECT_KEY);
		schema_done(&schema);
		config_done(&config);
	}
}

/* Several metrics of a type, and one that needs another. */
static void test_several(void)
{
	struct error error = { "" };
	struct schema schema;

	CASE("two data sources");
	CHECK_INT(describe("<Value \"x\">\nType \"u64\"\nMetric \"disk_octets-a:read\"\n</Value>\n"
			   "<Value \"y\">\nType \"u64\"\nOffset 8\nMetric \"disk_octets-a:write\"\n"
			   "</Value>",
			   BARE, &schema, &error),
		  0);
	CHECK_UINT(schema.metric_count, 1);
	schema_done(&schema);
	config_done(&config);
	CASE("a ratio");
	CHECK_INT(
		describe("<Value \"n\">\nType \"u64\"\n</Value>\n<Value>\nType \"u64\"\nOffset 8\n"
			 "Metric \"gauge-a per=n\"\n</Value>",
			 BARE, &schema, &error),
		0);
	CHECK_UINT(schema.column_count, 2);
	CHECK_UINT(schema.metric_count, 1);
	schema_done(&schema);
	config_done(&config);
}

static void test_mistakes(void)
{
	static const struct {
		const char *lines;
		enum shape shape;
		const char *want;
	} cases[] = {
		{ "", PLAIN, "has no Value block with a Metric" },
		{ "<Value>\n</Value>", PLAIN, "has no Value block with a Metric" },
		{ "<Value \"twice\">\nMetric \"derive-a\"\n</Value>", STRUCT,
		  "member twice: the map's value has no member of this name in BTF" },
		{ "<Value \"once\">\nMetric \"derive-a\"\n</Value>", BARE,
		  "no member of this name" },
		{ "<Value>\nMetric \"derive-a\"\n</Value>", STRUCT, "of 1, 2, 4 or 8 bytes" },
		{ "<Value \"bits\">\nMetric \"derive-a\"\n</Value>", STRUCT, "bit fields" },
		{ "<Value \"slots\">\nMetric \"derive-a\"\n</Value>", STRUCT, "is an array" },
		{ "<Value \"once\">\nMetric \"moon-a\"\n</Value>", STRUCT, "has no type \"moon\"" },
		{ "<Value \"once\">\nMetric \"derive-a tail=b\"\n</Value>", STRUCT,
		  "tail and least are for a struct hist" },
		{ "<Value \"once\">\nMetric \"derive-a bad\"\n</Value>", STRUCT,
		  "unknown word \"bad\"" },
		{ "<Value \"once\">\nMetric \"gauge-a per=x\"\n</Value>", STRUCT,
		  "there is none, which per= names" },
		{ "<Value \"once\">\nMetric \"latency-a\"\nHistogram \"exp2\" 0 7\n</Value>",
		  STRUCT,
		  "has a Histogram, but is not an array, and no Key block has Decode \"bucket\"" },
		{ "<Value \"slots\">\nMetric \"latency-a\"\nHistogram \"exp2\" 0 8\n</Value>",
		  STRUCT, "has fewer elements than its Histogram" },
		{ "<Value \"slots\">\nMetric \"latency-a\"\nHistogram \"moon\" 0 8\n</Value>",
		  STRUCT, "unknown Histogram \"moon\"" },
		{ "<Value \"slots\">\nMetric \"derive-a\"\nHistogram \"exp2\" 0 7\n</Value>",
		  STRUCT, "is not a GAUGE" },
		{ "<Key \"b\">\nSize 8\nDecode \"bucket\"\n</Key>\n<Value>\nMetric "
		  "\"derive-a\"\n</Value>",
		  PLAIN, "so it needs a Histogram" },
		{ "<Value>\nOffset 4\nMetric \"derive-a\"\n</Value>", BARE,
		  "Offset and Count need a Type" },
		{ "<Value>\nType \"u64\"\nOffset 4\nMetric \"derive-a\"\n</Value>", BARE,
		  "is not aligned" },
		{ "<Value>\nType \"u64\"\nOffset 56\nMetric \"derive-a\"\n</Value>", BARE,
		  "lies outside of the value" },
		{ "<Value>\nType \"u32\"\nCount 100\nMetric \"latency-a\"\nHistogram \"linear\" 0 "
		  "99\n</Value>",
		  BARE, "lies outside of the value" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct schema schema;

		CASE("%s", cases[i].lines);
		CHECK_INT(describe(cases[i].lines, cases[i].shape, &schema, &error) < 0, 1);
		CHECK_HAS(error.text, "map m");
		CHECK_HAS(error.text, cases[i].want);
		CHECK_INT(schema.columns == NULL && schema.buckets == NULL, 1);
		config_done(&config);
	}
}

/* Lines that are ignored, with the reason for each. */
static void test_lines(void)
{
	static const struct {
		const char *lines, *want;
	} cases[] = {
		{ "<Table>\n</Table>",
		  "ignoring <Table>: it takes the name of a map of the object" },
		{ "<Table \"m\">\n<Key>\n</Key>\n</Table>", "ignoring <Key>: it takes a name" },
		{ "<Table \"m\">\n<Key \"k\">\nSize 0\n</Key>\n</Table>",
		  "ignoring Size 0 in <Key \"k\">: it takes a whole number from 1 to 512" },
		{ "<Table \"m\">\n<Key \"k\">\nSize \"4\"\n</Key>\n</Table>", "without quotes" },
		{ "<Table \"m\">\n<Key \"k\">\nDecode 1\n</Key>\n</Table>", "it takes a word" },
		{ "<Table \"m\">\n<Key \"k\">\nDecode \"map\" true\n</Key>\n</Table>",
		  "it takes a word" },
		{ "<Table \"m\">\n<Key \"k\">\nMetric \"derive\"\n</Key>\n</Table>",
		  "it belongs in a Value block" },
		{ "<Table \"m\">\nSize 4\n</Table>", "it belongs in a Key block" },
		{ "Entries 4", "it belongs in a Table block" },
		{ "<Table \"m\">\n<Value \"v\">\nType \"u128\"\n</Value>\n</Table>",
		  "it takes one of \"u8\"" },
		{ "<Table \"m\">\n<Value \"v\">\nHistogram 1\n</Value>\n</Table>",
		  "it takes \"exp2\"" },
		{ "<Table \"m\">\n<Value \"v\">\nMetric 1\n</Value>\n</Table>",
		  "it takes what METRIC() would" },
		{ "<Table \"m\">\nEntries 0\n</Table>", "from 1 to 1048576" },
		{ "<Table \"m\">\nEachCpu 1\n</Table>", "it takes true or false" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[TEXT_MAX];

		CASE("%s", cases[i].lines);
		snprintf(text, sizeof(text), "<Probe \"p\">\n%s\n</Probe>\n", cases[i].lines);
		CHECK_INT((int)read_text(&config, text), 1);
		CHECK_HAS(daemon_message(0), cases[i].want);
		config_done(&config);
	}
}

int main(void)
{
	message_to(daemon_record);
	test_columns();
	test_several();
	test_mistakes();
	test_lines();
	daemon_clear();
	return testing_end();
}
