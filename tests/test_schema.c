/* SPDX-License-Identifier: MIT */
/*
 * From synthetic BTF to columns and metrics.
 */
#include "testing.h"

#include "row.h"

#include "hist.h"
#include "plugin/dispatch.h"
#include "plugin/stats.h"

#include <errno.h>

#define MEMBERS_MAX 4
#define HIST_SIZE (HIST_BUCKETS * 8)
#define X16 "0123456789abcdef"
#define X96 X16 X16 X16 X16 X16 X16

struct schema_case {
	const char *name;
	struct row_member members[MEMBERS_MAX];
	uint32_t size;
	bool reverse;
	/* Columns as print() has them, then metrics by the numbers of their columns; or a part
	 * of the error. */
	const char *want;
};

static const struct schema_case good[] = {
	{ "no tags", { MEMBER("a", U64, 0, NULL) }, 8, false, "" },
	{ "one member",
	  { MEMBER("a", U64, 0, "total_requests") },
	  8,
	  false,
	  "total_requests derive u8@0;[0]" },
	{ "untagged between tagged",
	  { MEMBER("a", U64, 0, "derive-a"), MEMBER("own", U64, 8, NULL),
	    MEMBER("b", U64, 16, "derive-b") },
	  24,
	  false,
	  "derive-a derive u8@0;derive-b derive u8@16;[0][1]" },
	{ "sizes and signs",
	  { MEMBER("a", U8, 0, "gauge-a"), MEMBER("b", S16, 2, "gauge-b"),
	    MEMBER("c", S32, 4, "gauge-c"), MEMBER("d", S64, 8, "gauge-d") },
	  16,
	  false,
	  "gauge-a gauge u1@0;gauge-b gauge s2@2;gauge-c gauge s4@4;gauge-d gauge s8@8;"
	  "[0][1][2][3]" },
	{ "other integers",
	  { MEMBER("a", U16, 0, "gauge-a"), MEMBER("b", U32, 4, "gauge-b"),
	    MEMBER("c", BOOL, 8, "gauge-c"), MEMBER("d", S8, 9, "gauge-d") },
	  16,
	  false,
	  "gauge-a gauge u2@0;gauge-b gauge u4@4;gauge-c gauge u1@8;gauge-d gauge s1@9;"
	  "[0][1][2][3]" },
	{ "enums, and a chain of typedef, const and volatile",
	  { MEMBER("a", ENUM, 0, "gauge-a"), MEMBER("b", ENUM64, 8, "gauge-b"),
	    MEMBER("c", ALIAS, 16, "gauge-c") },
	  24,
	  false,
	  "gauge-a gauge u4@0;gauge-b gauge u8@8;gauge-c gauge u8@16;[0][1][2]" },
	{ "kinds of data sources",
	  { MEMBER("a", U64, 0, "counter"), MEMBER("b", U64, 8, "derive"),
	    MEMBER("c", U64, 16, "absolute"), MEMBER("d", U64, 24, "gauge rate") },
	  32,
	  false,
	  "counter counter u8@0;derive derive u8@8;absolute absolute u8@16;gauge gauge rate u8@24;"
	  "[0][1][2][3]" },
	{ "moments",
	  { MEMBER("a", MOMENTS, 0, "latency-a"), MEMBER("b", MOMENTS_ALIAS, 40, "latency-b") },
	  80,
	  false,
	  "latency-a gauge moments@0;latency-b gauge moments@40;[0][1]" },
	{ "a histogram between integers",
	  { MEMBER("a", U64, 0, "derive"), MEMBER("b", HIST, 8, "latency"),
	    MEMBER("c", U64, HIST_SIZE + 8, "gauge") },
	  HIST_SIZE + 16,
	  false,
	  "derive derive u8@0;latency gauge hist@8;gauge gauge u8@4744;"
	  "[0][1][2]" },
	{ "a long instance",
	  { MEMBER("a", U64, 0, "derive-" X96 "0123456789abcde") },
	  8,
	  false,
	  "derive-" X96 "0123456789abcde derive u8@0;[0]" },
	{ "two data sources of one type",
	  { MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("b", U64, 8, "ps_cputime:syst") },
	  16,
	  false,
	  "ps_cputime:user derive u8@0;ps_cputime:syst derive u8@8;[0 1]" },
	{ "metrics are in the order of types.db",
	  { MEMBER("b", U64, 0, "ps_cputime:syst"), MEMBER("a", U64, 8, "ps_cputime:user") },
	  16,
	  false,
	  "ps_cputime:syst derive u8@0;ps_cputime:user derive u8@8;[1 0]" },
	{ "tags in the opposite order, before the struct",
	  { MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("g", U32, 8, "gauge"),
	    MEMBER("b", U64, 16, "ps_cputime:syst") },
	  24,
	  true,
	  "ps_cputime:syst derive u8@16;gauge gauge u4@8;ps_cputime:user derive u8@0;"
	  "[2 0][1]" },
	{ "one type, instances apart",
	  { MEMBER("a", U64, 0, "ps_count-x:processes"),
	    MEMBER("b", U64, 8, "ps_count-y:processes"), MEMBER("c", U64, 16, "ps_count-y:threads"),
	    MEMBER("d", U64, 24, "ps_count-x:threads") },
	  32,
	  false,
	  "ps_count-x:processes gauge u8@0;ps_count-y:processes gauge u8@8;"
	  "ps_count-y:threads gauge u8@16;ps_count-x:threads gauge u8@24;[0 3][1 2]" },
	{ "the only data source by its name",
	  { MEMBER("a", U64, 0, "gauge-a:value") },
	  8,
	  false,
	  "gauge-a:value gauge u8@0;[0]" },
	{ "per a member without a tag",
	  { MEMBER("a", U32, 0, "gauge per=b"), MEMBER("b", U64, 8, NULL) },
	  16,
	  false,
	  "gauge gauge u4@0 per 1;hidden u8@8;[0]" },
	{ "per one with a tag, which is a gauge, twice",
	  { MEMBER("a", U64, 0, "gauge-a per=b"), MEMBER("b", U64, 8, "gauge-b"),
	    MEMBER("c", U64, 16, "gauge-c per=b") },
	  24,
	  false,
	  "gauge-a gauge u8@0 per 3;gauge-b gauge u8@8;gauge-c gauge u8@16 per 4;"
	  "hidden u8@8;hidden u8@8;[0][1][2]" },
	{ "per itself",
	  { MEMBER("a", U64, 0, "gauge per=a") },
	  8,
	  false,
	  "gauge gauge u8@0 per 1;hidden u8@0;[0]" },
	{ "up to the last byte",
	  { MEMBER("a", U8, 7, "gauge") },
	  8,
	  false,
	  "gauge gauge u1@7;[0]" },
};

static const struct schema_case bad[] = {
	{ "a word that is none",
	  { MEMBER("a", U64, 0, "gauge rated") },
	  8,
	  false,
	  "map rows, member a: unknown word \"rated\"" },
	{ "a type that is none",
	  { MEMBER("a", U64, 0, "no_such_type") },
	  8,
	  false,
	  "map rows, member a: collectd's types.db has no type \"no_such_type\"" },
	{ "a data source that is none",
	  { MEMBER("a", U64, 0, "ps_cputime:idle") },
	  8,
	  false,
	  "map rows, member a: type ps_cputime has no data source \"idle\"" },
	{ "a data source that is not \"value\"",
	  { MEMBER("a", U64, 0, "gauge:idle") },
	  8,
	  false,
	  "member a: type gauge has no data source \"idle\"" },
	{ "no data source where one is needed",
	  { MEMBER("a", U64, 0, "ps_cputime") },
	  8,
	  false,
	  "member a: type ps_cputime has 2 data sources, name one: ps_cputime:user" },
	{ "too many data sources",
	  { MEMBER("a", U64, 0, "nine:a") },
	  8,
	  false,
	  "member a: type nine has more than 8 data sources" },
	{ "a data source is missing",
	  { MEMBER("a", U64, 0, "ps_cputime-x:user") },
	  8,
	  false,
	  "map rows: no member is ps_cputime-x:syst" },
	{ "two members are one data source",
	  { MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("b", U64, 8, "ps_cputime:syst"),
	    MEMBER("c", U64, 16, "ps_cputime:user") },
	  24,
	  false,
	  "map rows: two members are ps_cputime:user" },
	{ "two members are one metric",
	  { MEMBER("a", U64, 0, "gauge-x"), MEMBER("b", U64, 8, "gauge-x") },
	  16,
	  false,
	  "map rows: two members are gauge-x:value" },
	{ "two members are one metric, one by its data source",
	  { MEMBER("a", U64, 0, "gauge:value"), MEMBER("b", U64, 8, "gauge") },
	  16,
	  false,
	  "map rows: two members are gauge:value" },
	{ "a bit field",
	  { BITS("a", U32, 0, "gauge", 0, 3) },
	  8,
	  false,
	  "member a: bit fields cannot be metrics" },
	{ "a bit field of 8 bits",
	  { BITS("a", U32, 0, "gauge", 8, 8) },
	  8,
	  false,
	  "member a: bit fields cannot be metrics" },
	{ "between bytes",
	  { BITS("a", U32, 0, "gauge", 4, 0) },
	  8,
	  false,
	  "member a: bit fields cannot be metrics" },
	{ "beyond the row",
	  { MEMBER("a", U64, 8, "gauge") },
	  8,
	  false,
	  "member a: lies outside of the row" },
	{ "partly beyond the row",
	  { MEMBER("a", U64, 0, "derive"), MEMBER("b", HIST, 8, "latency") },
	  16 + 8 * 100,
	  false,
	  "member b: lies outside of the row" },
	{ "far beyond the row",
	  { MEMBER("a", U64, 0x1ffffff8, "gauge") },
	  8,
	  false,
	  "member a: lies outside of the row" },
	{ "not aligned", { MEMBER("a", U64, 4, "gauge") }, 16, false, "member a: is not aligned" },
	{ "moments, not aligned",
	  { MEMBER("a", MOMENTS, 4, "gauge") },
	  48,
	  false,
	  "member a: is not aligned" },
	{ "128 bits",
	  { MEMBER("a", U128, 0, "gauge") },
	  16,
	  false,
	  "member a: only integers of 1, 2, 4 or 8 bytes" },
	{ "a struct of another name",
	  { MEMBER("a", OTHER_STRUCT, 0, "gauge") },
	  8,
	  false,
	  "member a: is neither an integer" },
	{ "moments of another size",
	  { MEMBER("a", SHORT_MOMENTS, 0, "gauge") },
	  8,
	  false,
	  "member a: is neither an integer" },
	{ "hist of another size",
	  { MEMBER("a", SHORT_HIST, 0, "gauge") },
	  8,
	  false,
	  "member a: is neither an integer" },
	{ "a union", { MEMBER("a", UNION, 0, "gauge") }, 8, false, "member a: is neither" },
	{ "a double", { MEMBER("a", DOUBLE, 0, "gauge") }, 8, false, "member a: is neither" },
	{ "a pointer", { MEMBER("a", POINTER, 0, "gauge") }, 8, false, "member a: is neither" },
	{ "an array", { MEMBER("a", ARRAY, 0, "gauge") }, 16, false, "member a: is neither" },
	{ "a typedef of itself", { MEMBER("a", LOOP, 0, "gauge") }, 8, false, "member a: " },
	{ "a typedef of nothing", { MEMBER("a", NOWHERE, 0, "gauge") }, 8, false, "member a: " },
	{ "void", { MEMBER("a", VOID, 0, "gauge") }, 8, false, "member a: " },
	{ "moments of a DERIVE",
	  { MEMBER("a", MOMENTS, 0, "derive") },
	  40,
	  false,
	  "member a: type derive is not a GAUGE" },
	{ "hist of a DERIVE",
	  { MEMBER("a", HIST, 0, "derive") },
	  HIST_SIZE,
	  false,
	  "member a: type derive is not a GAUGE" },
	{ "rate of a DERIVE",
	  { MEMBER("a", U64, 0, "derive rate") },
	  8,
	  false,
	  "member a: type derive is not a GAUGE" },
	{ "moments of a type of two data sources",
	  { MEMBER("a", MOMENTS, 0, "ps_count:processes"),
	    MEMBER("b", MOMENTS, 40, "ps_count:threads") },
	  80,
	  false,
	  "member a: type ps_count has 2 data sources" },
	{ "rate of moments",
	  { MEMBER("a", MOMENTS, 0, "latency rate") },
	  40,
	  false,
	  "member a: rate, notable and per are for integers" },
	{ "ratio of a DERIVE",
	  { MEMBER("a", U64, 0, "derive per=b"), MEMBER("b", U64, 8, NULL) },
	  16,
	  false,
	  "member a: type derive is not a GAUGE" },
	{ "ratio and rate",
	  { MEMBER("a", U64, 0, "gauge per=b rate"), MEMBER("b", U64, 8, NULL) },
	  16,
	  false,
	  "member a: either rate or per" },
	{ "ratio of moments",
	  { MEMBER("a", MOMENTS, 0, "latency per=b"), MEMBER("b", U64, 40, NULL) },
	  48,
	  false,
	  "member a: rate, notable and per are for integers" },
	{ "per nothing",
	  { MEMBER("a", U64, 0, "gauge per=b") },
	  8,
	  false,
	  "member b: there is none, which per= names" },
	{ "per moments",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", MOMENTS, 8, NULL) },
	  48,
	  false,
	  "member b: is no integer, which per= wants" },
	{ "per a double",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", DOUBLE, 8, NULL) },
	  16,
	  false,
	  "member b: is neither an integer" },
	{ "per what lies outside",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", U64, 8, NULL) },
	  8,
	  false,
	  "member b: lies outside of the row" },
	{ "per bits",
	  { MEMBER("a", U64, 0, "gauge per=b"), BITS("b", U32, 8, NULL, 0, 5) },
	  16,
	  false,
	  "member b: bit fields cannot be metrics" },
	{ "frequency of an integer",
	  { MEMBER("a", U64, 0, "gauge frequency") },
	  8,
	  false,
	  "member a: frequency is for moments" },
	{ "frequency of a histogram",
	  { MEMBER("a", HIST, 0, "latency frequency") },
	  HIST_SIZE,
	  false,
	  "member a: frequency is for moments" },
	{ "a long instance of moments",
	  { MEMBER("a", MOMENTS, 0, "latency-" X96 "x") },
	  40,
	  false,
	  "member a: the type instance is too long" },
	{ "notable of a histogram",
	  { MEMBER("a", HIST, 0, "latency notable=5") },
	  HIST_SIZE,
	  false,
	  "member a: rate, notable and per are for integers" },
	{ "a row of more than 1 MiB",
	  { MEMBER("a", U64, 0, "gauge") },
	  (1U << 20) + 8,
	  false,
	  "map rows: a row of more than 1 MiB" },
	{ "the second is bad",
	  { MEMBER("a", U64, 0, "gauge"), MEMBER("b", U64, 8, "") },
	  16,
	  false,
	  "member b: \"\" is not TYPE" },
};

/* Appends to text, which has room for 1024 bytes. */
#define ADD(text, ...) snprintf((text) + strlen(text), 1024 - strlen(text), __VA_ARGS__)

static void print_column(char *text, const struct column *c)
{
	static const char *const kinds[] = {
		[SOURCE_COUNTER] = "counter",
		[SOURCE_GAUGE] = "gauge",
		[SOURCE_DERIVE] = "derive",
		[SOURCE_ABSOLUTE] = "absolute",
	};

	if (c->is_hidden) {
		ADD(text, "hidden u%u@%u;", c->cell_size, c->offset);
		return;
	}
	ADD(text, "%s%s%s%s%s %s%s ", c->tag.type, c->tag.instance[0] ? "-" : "", c->tag.instance,
	    c->tag.source[0] ? ":" : "", c->tag.source, kinds[c->ds], c->tag.rate ? " rate" : "");
	if (c->kind == COLUMN_INTEGER)
		ADD(text, "%c%u@%u", c->is_signed ? 's' : 'u', c->cell_size, c->offset);
	else
		ADD(text, "%s@%u", c->kind == COLUMN_MOMENTS ? "moments" : "hist", c->offset);
	if (c->tag.per[0])
		ADD(text, " per %u", c->per);
	ADD(text, ";");
}

static void print(char *text, const struct schema *schema)
{
	*text = '\0';
	for (size_t i = 0; i < schema->column_count; i++)
		print_column(text, &schema->columns[i]);
	for (size_t i = 0; i < schema->metric_count; i++)
		for (size_t j = 0; j < schema->metrics[i].source_count; j++)
			ADD(text, "%s%u%s", j ? " " : "[", schema->metrics[i].column[j],
			    j + 1 == schema->metrics[i].source_count ? "]" : "");
}

/* Cells of columns follow each other without a gap. */
static void check_cells(const struct schema *schema)
{
	static const uint32_t cells[] = {
		[COLUMN_INTEGER] = 1,
		[COLUMN_MOMENTS] = MOMENTS_CELLS,
		[COLUMN_HIST] = HIST_BUCKETS,
	};
	uint32_t next = 0, moments = 0;

	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *c = &schema->columns[i];

		CHECK_UINT(c->cell, next);
		CHECK_UINT(c->cells, cells[c->kind]);
		CHECK_UINT(c->moments, moments);
		moments += c->kind == COLUMN_MOMENTS ? MOMENTS_CELLS : 0;
		next += c->cells;
	}
	CHECK_UINT(schema->cells, next);
	CHECK_UINT(schema->moments, moments);
}

static int read_case(const struct schema_case *c, struct schema *schema, struct error *error)
{
	size_t count = 0;
	uint32_t row;
	struct btf *btf;
	int status;

	while (count < MEMBERS_MAX && c->members[count].name)
		count++;
	btf = row_btf(c->members, count, c->size, c->reverse, &row);
	status = schema_read(schema, btf, "rows", row, dispatch_type, error);
	btf__free(btf);
	return status;
}

static void test_good(void)
{
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct error error = { "" };
		struct schema schema;
		char got[1024];

		CASE("%s", good[i].name);
		CHECK_INT(read_case(&good[i], &schema, &error), 0);
		CHECK_TEXT(error.text, "");
		print(got, &schema);
		CHECK_TEXT(got, good[i].want);
		check_cells(&schema);
		CHECK_UINT(schema.row_size, good[i].size);
		schema_done(&schema);
		schema_done(&schema);
	}
}

/* Each with one message, and nothing is left to free. */
static void test_bad(void)
{
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct error error = { "" };
		struct schema schema;

		CASE("%s", bad[i].name);
		CHECK_INT(read_case(&bad[i], &schema, &error) < 0, 1);
		CHECK_HAS(error.text, bad[i].want);
		CHECK_INT(schema.columns == NULL && schema.metrics == NULL, 1);
		schema_done(&schema);
	}
}

int main(void)
{
	test_good();
	test_bad();
	return testing_end();
}
