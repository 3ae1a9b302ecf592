/* SPDX-License-Identifier: MIT */
/*
 * Columns and metrics, from synthetic BTF.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/row.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema_tags.h"

#include <errno.h>

#define MEMBERS_MAX 5
#define X16 "0123456789abcdef"
#define X96 X16 X16 X16 X16 X16 X16

struct schema_case {
	const char *name;
	uint32_t size;
	/* The columns as print() writes them, then the metrics as numbers of columns; or a part
	 * of the error. */
	const char *want;
	struct row_member members[MEMBERS_MAX];
};

static const struct schema_case good[] = {
	{ "no tags", 8, "", { MEMBER("a", U64, 0, NULL) } },
	{ "one member",
	  8,
	  "total_requests derive u8@0;[0]",
	  { MEMBER("a", U64, 0, "total_requests") } },
	{ "untagged between tagged",
	  24,
	  "derive-a derive u8@0;derive-b derive u8@16;[0][1]",
	  { MEMBER("a", U64, 0, "derive-a"), MEMBER("own", U64, 8, NULL),
	    MEMBER("b", U64, 16, "derive-b") } },
	{ "sizes and signs",
	  16,
	  "gauge-a gauge u1@0;gauge-b gauge s2@2;gauge-c gauge s4@4;gauge-d gauge s8@8;"
	  "[0][1][2][3]",
	  { MEMBER("a", U8, 0, "gauge-a"), MEMBER("b", S16, 2, "gauge-b"),
	    MEMBER("c", S32, 4, "gauge-c"), MEMBER("d", S64, 8, "gauge-d") } },
	{ "other integers",
	  16,
	  "gauge-a gauge u2@0;gauge-b gauge u4@4;gauge-c gauge u1@8;gauge-d gauge s1@9;"
	  "[0][1][2][3]",
	  { MEMBER("a", U16, 0, "gauge-a"), MEMBER("b", U32, 4, "gauge-b"),
	    MEMBER("c", BOOL, 8, "gauge-c"), MEMBER("d", S8, 9, "gauge-d") } },
	{ "enums, and a chain of typedef, const and volatile",
	  24,
	  "gauge-a gauge u4@0;gauge-b gauge u8@8;gauge-c gauge u8@16;[0][1][2]",
	  { MEMBER("a", ENUM, 0, "gauge-a"), MEMBER("b", ENUM64, 8, "gauge-b"),
	    MEMBER("c", ALIAS, 16, "gauge-c") } },
	{ "kinds of data sources",
	  32,
	  "counter counter u8@0;derive derive u8@8;absolute absolute u8@16;gauge gauge rate u8@24;"
	  "[0][1][2][3]",
	  { MEMBER("a", U64, 0, "counter"), MEMBER("b", U64, 8, "derive"),
	    MEMBER("c", U64, 16, "absolute"), MEMBER("d", U64, 24, "gauge rate") } },
	{ "moments",
	  80,
	  "latency-a gauge moments@0;latency-b gauge moments@40;[0][1]",
	  { MEMBER("a", MOMENTS, 0, "latency-a"), MEMBER("b", MOMENTS_ALIAS, 40, "latency-b") } },
	{ "a histogram between integers",
	  HIST_SIZE + 16,
	  "derive derive u8@0;latency gauge hist@8;gauge gauge u8@4752;"
	  "[0][1][2]",
	  { MEMBER("a", U64, 0, "derive"), MEMBER("b", HIST, 8, "latency"),
	    MEMBER("c", U64, HIST_SIZE + 8, "gauge") } },
	{ "a long instance",
	  8,
	  "derive-" X96 "0123456789abcde derive u8@0;[0]",
	  { MEMBER("a", U64, 0, "derive-" X96 "0123456789abcde") } },
	{ "two data sources of one type",
	  16,
	  "ps_cputime:user derive u8@0;ps_cputime:syst derive u8@8;[0 1]",
	  { MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("b", U64, 8, "ps_cputime:syst") } },
	{ "metrics are in the order of types.db",
	  16,
	  "ps_cputime:syst derive u8@0;ps_cputime:user derive u8@8;[1 0]",
	  { MEMBER("b", U64, 0, "ps_cputime:syst"), MEMBER("a", U64, 8, "ps_cputime:user") } },
	{ "one type, instances apart",
	  32,
	  "ps_count-x:processes gauge u8@0;ps_count-y:processes gauge u8@8;"
	  "ps_count-y:threads gauge u8@16;ps_count-x:threads gauge u8@24;[0 3][1 2]",
	  { MEMBER("a", U64, 0, "ps_count-x:processes"),
	    MEMBER("b", U64, 8, "ps_count-y:processes"), MEMBER("c", U64, 16, "ps_count-y:threads"),
	    MEMBER("d", U64, 24, "ps_count-x:threads") } },
	{ "the only data source by its name",
	  8,
	  "gauge-a:value gauge u8@0;[0]",
	  { MEMBER("a", U64, 0, "gauge-a:value") } },
	{ "per a member without a tag",
	  16,
	  "gauge gauge u4@0 per 1;hidden u8@8;[0]",
	  { MEMBER("a", U32, 0, "gauge per=b"), MEMBER("b", U64, 8, NULL) } },
	{ "per one with a tag, which is a gauge, twice",
	  24,
	  "gauge-a gauge u8@0 per 3;gauge-b gauge u8@8;gauge-c gauge u8@16 per 4;"
	  "hidden u8@8;hidden u8@8;[0][1][2]",
	  { MEMBER("a", U64, 0, "gauge-a per=b"), MEMBER("b", U64, 8, "gauge-b"),
	    MEMBER("c", U64, 16, "gauge-c per=b") } },
	{ "over another one, both as they stand",
	  16,
	  "gauge gauge u8@0 per 1;hidden u8@8;[0]",
	  { MEMBER("a", U64, 0, "gauge of=b"), MEMBER("b", U64, 8, NULL) } },
	{ "per itself",
	  8,
	  "gauge gauge u8@0 per 1;hidden u8@0;[0]",
	  { MEMBER("a", U64, 0, "gauge per=a") } },
	{ "rank",
	  24,
	  "derive-a derive u8@0;gauge rank gauge rate u8@8;derive-c derive u8@16;[0][1][2]",
	  { MEMBER("a", U64, 0, "derive-a"), MEMBER("b", U64, 8, "gauge rank rate"),
	    MEMBER("c", U64, 16, "derive-c") } },
	{ "off by default",
	  24,
	  "derive-a derive u8@0;derive-b derive off u8@8;gauge gauge off u8@16 per 3;hidden u8@0;[0][1][2]",
	  { MEMBER("a", U64, 0, "derive-a"), OFF("b", U64, 8, "derive-b"),
	    OFF("c", U64, 16, "gauge per=a") } },
	{ "a tail, and one that is divided by, too",
	  2 * HIST_SIZE + 24,
	  "latency-a gauge hist@0 tail 4744;gauge gauge u8@4752 per 3;"
	  "latency-b gauge off hist@4760 tail 9504;hidden u8@9504;[0][1][2]",
	  { MEMBER("a", HIST, 0, "latency-a tail=x"), MEMBER("x", S64, HIST_SIZE, NULL),
	    MEMBER("c", U64, HIST_SIZE + 8, "gauge of=y"),
	    OFF("b", HIST, HIST_SIZE + 16, "latency-b tail=y"),
	    MEMBER("y", ALIAS, 2 * HIST_SIZE + 16, NULL) } },
	{ "up to the last byte", 8, "gauge gauge u1@7;[0]", { MEMBER("a", U8, 7, "gauge") } },
};

static const struct schema_case reversed = {
	"tags in the opposite order, before the struct",
	24,
	"ps_cputime:syst derive u8@16;gauge gauge u4@8;ps_cputime:user derive u8@0;[2 0][1]",
	{ MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("g", U32, 8, "gauge"),
	  MEMBER("b", U64, 16, "ps_cputime:syst") },
};

static const struct schema_case bad[] = {
	{ "two members are one data source",
	  24,
	  "map rows: two members are ps_cputime:user",
	  { MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("b", U64, 8, "ps_cputime:syst"),
	    MEMBER("c", U64, 16, "ps_cputime:user") } },
	{ "two members are one metric",
	  16,
	  "map rows: two members are gauge-x:value",
	  { MEMBER("a", U64, 0, "gauge-x"), MEMBER("b", U64, 8, "gauge-x") } },
	{ "two members are one metric, one by its data source",
	  16,
	  "map rows: two members are gauge:value",
	  { MEMBER("a", U64, 0, "gauge:value"), MEMBER("b", U64, 8, "gauge") } },
	{ "a bit field",
	  8,
	  "member a: bit fields cannot be metrics",
	  { BITS("a", U32, 0, "gauge", 0, 3) } },
	{ "a bit field of 8 bits",
	  8,
	  "member a: bit fields cannot be metrics",
	  { BITS("a", U32, 0, "gauge", 8, 8) } },
	{ "between bytes",
	  8,
	  "member a: bit fields cannot be metrics",
	  { BITS("a", U32, 0, "gauge", 4, 0) } },
	{ "beyond the row",
	  8,
	  "member a: lies outside of the row",
	  { MEMBER("a", U64, 8, "gauge") } },
	{ "partly beyond the row",
	  16 + 8 * 100,
	  "member b: lies outside of the row",
	  { MEMBER("a", U64, 0, "derive"), MEMBER("b", HIST, 8, "latency") } },
	{ "far beyond the row",
	  8,
	  "member a: lies outside of the row",
	  { MEMBER("a", U64, 0x1ffffff8, "gauge") } },
	{ "not aligned", 16, "member a: is not aligned", { MEMBER("a", U64, 4, "gauge") } },
	{ "moments, not aligned",
	  48,
	  "member a: is not aligned",
	  { MEMBER("a", MOMENTS, 4, "gauge") } },
	{ "moments of a type of two data sources",
	  80,
	  "member a: type ps_count has 2 data sources",
	  { MEMBER("a", MOMENTS, 0, "ps_count:processes"),
	    MEMBER("b", MOMENTS, 40, "ps_count:threads") } },
	{ "ratio of a DERIVE",
	  16,
	  "member a: type derive is not a GAUGE",
	  { MEMBER("a", U64, 0, "derive per=b"), MEMBER("b", U64, 8, NULL) } },
	{ "ratio and rate",
	  16,
	  "member a: either rate or per",
	  { MEMBER("a", U64, 0, "gauge per=b rate"), MEMBER("b", U64, 8, NULL) } },
	{ "ratio of moments",
	  48,
	  "member a: rate, active, rank, per and where are for integers",
	  { MEMBER("a", MOMENTS, 0, "latency per=b"), MEMBER("b", U64, 40, NULL) } },
	{ "rank of a ratio",
	  16,
	  "member a: either rank or per",
	  { MEMBER("a", U64, 0, "gauge per=b rank"), MEMBER("b", U64, 8, NULL) } },
	{ "the highest of signed ones",
	  8,
	  "member a: highest is for an unsigned integer",
	  { MEMBER("a", S64, 0, "gauge highest") } },
	{ "two ranks",
	  16,
	  "member b: another member has the word rank",
	  { MEMBER("a", U64, 0, "gauge rank"), MEMBER("b", U64, 8, "derive rank") } },
	{ "per moments",
	  48,
	  "member b: is not an integer, as per= needs",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", MOMENTS, 8, NULL) } },
	{ "per a double",
	  16,
	  "member b: is neither an integer",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", DOUBLE, 8, NULL) } },
	{ "per what lies outside",
	  8,
	  "member b: lies outside of the row",
	  { MEMBER("a", U64, 0, "gauge per=b"), MEMBER("b", U64, 8, NULL) } },
	{ "per bits",
	  16,
	  "member b: bit fields cannot be metrics",
	  { MEMBER("a", U64, 0, "gauge per=b"), BITS("b", U32, 8, NULL, 0, 5) } },
	{ "a row of more than 1 MiB",
	  (1U << 20) + 8,
	  "map rows: a row of more than 1 MiB",
	  { MEMBER("a", U64, 0, "gauge") } },
	{ "DEFAULT without METRIC",
	  16,
	  "map rows, member b: has DEFAULT, but no METRIC",
	  { MEMBER("a", U64, 0, "gauge"), OFF("b", U64, 8, NULL) } },
	{ "DEFAULT(on)",
	  8,
	  "map rows, member a: DEFAULT of a member is off, or left out",
	  { { .name = "a", .type = ROW_U64, .tag = "gauge", .state = "on" } } },
	{ "the second is bad",
	  16,
	  "member b: \"\" is not TYPE",
	  { MEMBER("a", U64, 0, "gauge"), MEMBER("b", U64, 8, "") } },
};

/* Rows with one member, "a". */
static const struct {
	const char *name;
	enum row_type type;
	const char *tag, *want;
} bad_single[] = {
	{ "a word that is none", ROW_U64, "gauge rated",
	  "map rows, member a: unknown word \"rated\"" },
	{ "a type that is none", ROW_U64, "no_such_type",
	  "map rows, member a: collectd's types.db has no type \"no_such_type\"" },
	{ "a data source that is none", ROW_U64, "ps_cputime:idle",
	  "map rows, member a: type ps_cputime has no data source \"idle\"" },
	{ "a data source that is not \"value\"", ROW_U64, "gauge:idle",
	  "member a: type gauge has no data source \"idle\"" },
	{ "no data source where one is needed", ROW_U64, "ps_cputime",
	  "member a: type ps_cputime has 2 data sources, name one: ps_cputime:user" },
	{ "too many data sources", ROW_U64, "nine:a",
	  "member a: type nine has more than 8 data sources" },
	{ "a data source is missing", ROW_U64, "ps_cputime-x:user",
	  "map rows: no member is ps_cputime-x:syst" },
	{ "128 bits", ROW_U128, "gauge", "member a: only integers of 1, 2, 4 or 8 bytes" },
	{ "a struct of another name", ROW_OTHER_STRUCT, "gauge",
	  "member a: is neither an integer" },
	{ "moments of another size", ROW_SHORT_MOMENTS, "gauge",
	  "member a: is neither an integer" },
	{ "hist of another size", ROW_SHORT_HIST, "gauge", "member a: is neither an integer" },
	{ "a union", ROW_UNION, "gauge", "member a: is neither" },
	{ "a double", ROW_DOUBLE, "gauge", "member a: is neither" },
	{ "a pointer", ROW_POINTER, "gauge", "member a: is neither" },
	{ "an array", ROW_ARRAY, "gauge", "member a: is neither" },
	{ "a typedef of itself", ROW_LOOP, "gauge", "member a: " },
	{ "a typedef of nothing", ROW_MISSING, "gauge", "member a: " },
	{ "void", ROW_VOID, "gauge", "member a: " },
	{ "moments of a DERIVE", ROW_MOMENTS, "derive", "member a: type derive is not a GAUGE" },
	{ "hist of a DERIVE", ROW_HIST, "derive", "member a: type derive is not a GAUGE" },
	{ "rate of a DERIVE", ROW_U64, "derive rate", "member a: type derive is not a GAUGE" },
	{ "rate of moments", ROW_MOMENTS, "latency rate",
	  "member a: rate, active, rank, per and where are for integers" },
	{ "per nothing", ROW_U64, "gauge per=b", "member b: there is none, which per= names" },
	{ "where nothing", ROW_U64, "gauge where=b",
	  "member b: there is none, which where= names" },
	{ "frequency of an integer", ROW_U64, "gauge frequency",
	  "member a: frequency is for moments" },
	{ "frequency of a histogram", ROW_HIST, "latency frequency",
	  "member a: frequency is for moments" },
	{ "a long instance of moments", ROW_MOMENTS, "latency-" X96 "x",
	  "member a: the type instance leaves no room" },
	{ "rank of a histogram", ROW_HIST, "latency rank",
	  "member a: rate, active, rank, per and where are for integers" },
	{ "rank of moments", ROW_MOMENTS, "latency rank",
	  "member a: rate, active, rank, per and where are for integers" },
	{ "active= of a histogram", ROW_HIST, "latency active=5",
	  "member a: rate, active, rank, per and where are for integers" },
};

/* Appends to a text that has room for 1,024 bytes. */
#define ADD(text, ...) snprintf((text) + strlen(text), 1024 - strlen(text), __VA_ARGS__)

static void print_column(char *text, const struct column *c, const struct schema *schema)
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
	ADD(text, "%s%s%s%s%s%s %s%s ", c->tag.type, c->tag.instance[0] ? "-" : "", c->tag.instance,
	    c->tag.source[0] ? ":" : "", c->tag.source, c->tag.rank ? " rank" : "", kinds[c->ds],
	    c->tag.rate ? " rate"
	    : c->is_off ? " off"
			: "");
	if (c->kind == COLUMN_INTEGER)
		ADD(text, "%c%u@%u", c->is_signed ? 's' : 'u', c->cell_size, c->offset);
	else
		ADD(text, "%s@%u", c->kind == COLUMN_MOMENTS ? "moments" : "hist", c->offset);
	if (c->tag.per[0])
		ADD(text, " per %u", c->per);
	for (size_t i = 0; i < schema->tail_count; i++)
		if (schema->tails[i].hist == c->offset)
			ADD(text, " tail %u", schema->tails[i].member);
	ADD(text, ";");
}

static void print(char *text, const struct schema *schema)
{
	*text = '\0';
	for (size_t i = 0; i < schema->column_count; i++)
		print_column(text, &schema->columns[i], schema);
	for (size_t i = 0; i < schema->metric_count; i++)
		for (size_t j = 0; j < schema->metrics[i].source_count; j++)
			ADD(text, "%s%u%s", j ? " " : "[", schema->metrics[i].column[j],
			    j + 1 == schema->metrics[i].source_count ? "]" : "");
}

/* The cells of all columns are contiguous. */
static void check_cells(const struct schema *schema)
{
	static const uint32_t cells[] = {
		[COLUMN_INTEGER] = 1,
		[COLUMN_MOMENTS] = MOMENTS_CELLS,
		[COLUMN_HIST] = HIST_CELLS,
	};
	uint32_t next = 0, moments = 0, rank = 0;

	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *c = &schema->columns[i];

		CHECK_UINT(c->cell, next);
		CHECK_UINT(c->cells, cells[c->kind]);
		CHECK_UINT(c->moments, moments);
		moments += c->kind == COLUMN_MOMENTS ? MOMENTS_CELLS : 0;
		rank = c->tag.rank ? (uint32_t)i + 1 : rank;
		next += c->cells;
	}
	CHECK_UINT(schema->cells, next);
	CHECK_UINT(schema->moments, moments);
	CHECK_UINT(schema->rank, rank);
}

static int read_case(const struct schema_case *c, bool reverse, struct schema *schema,
		     struct error *error)
{
	size_t count = 0;
	uint32_t row;
	struct btf *btf;
	int status;

	while (count < MEMBERS_MAX && c->members[count].name)
		count++;
	btf = row_btf(c->members, count, c->size, reverse, &row);
	status = schema_read(schema, btf, "rows", row, dispatch_type, error);
	btf__free(btf);
	return status;
}

static void check_good(const struct schema_case *c, bool reverse)
{
	struct error error = { "" };
	struct schema schema;
	char got[1024];

	CASE("%s", c->name);
	CHECK_INT(read_case(c, reverse, &schema, &error), 0);
	CHECK_TEXT(error.text, "");
	print(got, &schema);
	CHECK_TEXT(got, c->want);
	check_cells(&schema);
	CHECK_UINT(schema.row_size, c->size);
	schema_done(&schema);
	schema_done(&schema);
}

static void test_good(void)
{
	for (size_t i = 0; i < COUNT_OF(good); i++)
		check_good(&good[i], false);
	check_good(&reversed, true);
}

/* There is one error, and nothing needs to be freed. */
static void check_bad(const struct schema_case *c)
{
	struct error error = { "" };
	struct schema schema;

	CASE("%s", c->name);
	CHECK_INT(read_case(c, false, &schema, &error) < 0, 1);
	CHECK_HAS(error.text, c->want);
	CHECK_INT(!schema.columns && !schema.metrics && !schema.tails, 1);
	schema_done(&schema);
}

static void test_bad(void)
{
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		check_bad(&bad[i]);
	for (size_t i = 0; i < COUNT_OF(bad_single); i++) {
		const struct schema_case single = {
			bad_single[i].name,
			HIST_SIZE,
			bad_single[i].want,
			{ { .name = "a", .type = bad_single[i].type, .tag = bad_single[i].tag } },
		};

		check_bad(&single);
	}
}

/* A row may have any number of tags; each makes a column. */
static void test_many(void)
{
	struct row_member member = MEMBER("a", U64, 0, "gauge");
	struct error error = { "" };
	struct schema schema;
	uint32_t row;

	for (size_t count = 1024; count <= 1025; count++) {
		struct btf *btf = row_btf(&member, 1, 8, false, &row);
		char text[32];

		CASE("%zu tags", count);
		for (size_t i = 1; i < count; i++) {
			snprintf(text, sizeof(text), "metric:gauge-%zu", i);
			btf__add_decl_tag(btf, text, (int)row, 0);
		}
		CHECK_INT(schema_read(&schema, btf, "rows", row, dispatch_type, &error),
			  count > 1024 ? -E2BIG : 0);
		CHECK_TEXT(error.text,
			   count > 1024 ? "map rows: more than 1024 METRIC tags on its rows" : "");
		schema_done(&schema);
		btf__free(btf);
	}
}

/* Types that the daemon lacks, without and with a line of the stock types.db. */
static void test_lacking(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "moon:x"), MEMBER("b", HIST, 8, "moon-b"),
		MEMBER("c", U64, 8 + 8 * HIST_BUCKETS, "moon rate"),
		MEMBER("d", U64, 16 + 8 * HIST_BUCKETS, "disk_ops:read"),
		MEMBER("e", U64, 24 + 8 * HIST_BUCKETS, "disk_ops:write")
	};
	struct error error = { "" };
	struct schema schema;
	uint32_t row;
	struct btf *btf = row_btf(members, COUNT_OF(members), 32 + 8 * HIST_BUCKETS, false, &row);

	CASE("types that the daemon lacks");
	CHECK_INT(schema_read(&schema, btf, "rows", row, dispatch_type_or_stock, &error), 0);
	CHECK_TEXT(error.text, "");
	CHECK_UINT(schema.column_count, 5);
	CHECK_UINT(schema.metric_count, 3);
	CHECK_UINT(schema.metrics[0].source_count, 1);
	CHECK_UINT(schema.metrics[2].source_count, 2);
	schema_done(&schema);
	btf__free(btf);
}

int main(void)
{
	test_lacking();
	test_good();
	test_bad();
	test_many();
	return testing_end();
}
