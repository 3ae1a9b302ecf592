/* SPDX-License-Identifier: MIT */
/*
 * Which series are collected, and which cells are read for them.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/row.h"
#include "tests/unit/fake/string_list.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/schema/selection.h"
#include "plugin/schema/series.h"

#define MEMBERS_MAX 6
#define GLOBS_MAX 3

static struct config config = { .percentiles = { 50, 99.9 }, .percentile_count = 2 };

struct example {
	const char *name;
	char *collect[GLOBS_MAX], *ignore[GLOBS_MAX];
	enum subject_kind subject;
	const struct row_member *members;
	size_t labels; /* labels in the type instance */
	bool buckets;
	const char *columns,
		*series; /* the columns that are read, by member; the series that are dispatched */
};

#define P(text) ((char[]){ text })

static const struct row_member integers[MEMBERS_MAX] = {
	MEMBER("a", U64, 0, "derive-a"),
	OFF("b", U64, 8, "derive-b"),
	MEMBER("c", U64, 16, "percent-c per=d"),
	MEMBER("d", U64, 24, "derive-d"),
	MEMBER("user", U64, 32, "ps_cputime:user"),
	OFF("syst", U64, 40, "ps_cputime:syst"),
};
static const struct row_member deciding[MEMBERS_MAX] = {
	MEMBER("first", U64, 0, "derive-first"),
	MEMBER("rank", U64, 8, "derive-rank rank"),
	MEMBER("notable", U64, 16, "derive-notable active=5"),
	MEMBER("last", U64, 24, "derive-last"),
};
static const struct row_member plain[MEMBERS_MAX] = {
	MEMBER("first", U64, 0, "derive-first"),
	MEMBER("last", U64, 8, "derive-last"),
};
static const struct row_member statistics[MEMBERS_MAX] = {
	OFF("m", MOMENTS, 0, "gauge-m frequency"),
	MEMBER("h", HIST, 40, "latency-h"),
	OFF("i", HIST, 40 + HIST_SIZE, "latency-i"),
	MEMBER("n", U64, 40 + 2 * HIST_SIZE, "derive-n"),
};

static const struct example examples[] = {
	{ .name = "what is on by default; one member that is off is enough",
	  .members = integers,
	  .columns = "a c d d* ",
	  .series = "derive-a percent-c derive-d " },
	{ .name = "these alone, also what is off",
	  .collect = { P("derive-b"), P("ps_cputime") },
	  .members = integers,
	  .columns = "b user syst ",
	  .series = "derive-b ps_cputime " },
	{ .name = "what it is divided by is read",
	  .collect = { P("percent-*") },
	  .members = integers,
	  .columns = "c d* ",
	  .series = "percent-c " },
	{ .name = "all",
	  .collect = { P("*") },
	  .members = integers,
	  .columns = "a b c d user syst d* ",
	  .series = "derive-a derive-b percent-c derive-d ps_cputime " },
	{ .name = "default and one more",
	  .collect = { P("derive-b"), P("default") },
	  .members = integers,
	  .columns = "a b c d d* ",
	  .series = "derive-a derive-b percent-c derive-d " },
	{ .name = "all but these",
	  .ignore = { P("derive-*"), P("nothing") },
	  .members = integers,
	  .columns = "c d* ",
	  .series = "percent-c " },
	{ .name = "Ignore wins",
	  .collect = { P("derive-*") },
	  .ignore = { P("derive-a"), P("*-d") },
	  .members = integers,
	  .columns = "b ",
	  .series = "derive-b " },
	{ .name = "nothing is left",
	  .collect = { P("derive-a") },
	  .ignore = { P("derive-?") },
	  .members = integers,
	  .columns = "",
	  .series = "" },
	{ .name = "a part of a name is none",
	  .collect = { P("derive-a"), P("derive") },
	  .members = integers,
	  .columns = "a ",
	  .series = "derive-a " },
	{ .name = "which services have series is decided by what is notable",
	  .collect = { P("derive-last") },
	  .subject = SUBJECT_SERVICE,
	  .members = deciding,
	  .columns = "notable* last ",
	  .series = "derive-last " },
	{ .name = "which processes, by their rank",
	  .collect = { P("derive-last") },
	  .subject = SUBJECT_PROCESS,
	  .members = deciding,
	  .columns = "rank* last ",
	  .series = "derive-last " },
	{ .name = "which keys, by both",
	  .collect = { P("derive-last") },
	  .subject = SUBJECT_KEY,
	  .members = deciding,
	  .columns = "rank* notable* last ",
	  .series = "derive-last " },
	{ .name = "keys without rank, by the first member",
	  .collect = { P("derive-last") },
	  .subject = SUBJECT_KEY,
	  .members = plain,
	  .columns = "first* last ",
	  .series = "derive-last " },
	{ .name = "who decides of nothing is not read",
	  .ignore = { P("*") },
	  .subject = SUBJECT_SERVICE,
	  .members = deciding,
	  .columns = "",
	  .series = "" },
	{ .name = "a histogram by default",
	  .members = statistics,
	  .columns = "h n ",
	  .series =
		  "latency-h-average latency-h-percentile-50 latency-h-percentile-99.9 derive-n " },
	{ .name = "moments and a histogram as a whole",
	  .collect = { P("gauge-m"), P("latency-i") },
	  .members = statistics,
	  .columns = "m i ",
	  .series = "gauge-m-samples gauge-m-average gauge-m-variance gauge-m-cv gauge-m-frequency "
		    "latency-i-average latency-i-percentile-50 latency-i-percentile-99.9 " },
	{ .name = "some of their series",
	  .collect = { P("gauge-m-cv"), P("latency-*-percentile-50") },
	  .members = statistics,
	  .columns = "m h i ",
	  .series = "gauge-m-cv latency-h-percentile-50 latency-i-percentile-50 " },
	{ .name = "all but some of them",
	  .ignore = { P("latency-h-percentile-*") },
	  .members = statistics,
	  .columns = "h n ",
	  .series = "latency-h-average derive-n " },
	{ .name = "all but each of them",
	  .ignore = { P("latency-h-percentile-*"), P("latency-h-average") },
	  .members = statistics,
	  .columns = "n ",
	  .series = "derive-n " },
	{ .name = "no buckets",
	  .collect = { P("latency-h") },
	  .ignore = { P("bucket-*"), P("*-percentile-50") },
	  .members = statistics,
	  .buckets = true,
	  .columns = "h ",
	  .series = "latency-h-average latency-h-percentile-99.9 " },
	{ .name = "labels, as documents have them",
	  .collect = { P("derive-last-*") },
	  .subject = SUBJECT_KEY,
	  .members = plain,
	  .labels = 2,
	  .columns = "first* last ",
	  .series = "derive-last " },
	{ .name = "statistics behind labels, and without them",
	  .collect = { P("latency-h-*-average"), P("latency-i-percentile-50") },
	  .members = statistics,
	  .labels = 1,
	  .columns = "h i ",
	  .series = "latency-h-average latency-i-percentile-50 " },
};

/* Appends to a text that has room for 1,024 bytes. */
#define ADD(text, ...) snprintf((text) + strlen(text), 1024 - strlen(text), __VA_ARGS__)

struct printer {
	char *text;
	const struct metric *metric;
};

static int print_series(void *to, unsigned number, const char *name)
{
	const struct printer *printer = to;

	if (series_is_on(printer->metric, number))
		ADD(printer->text, "%s ", name);
	return 0;
}

static const char *member_at(const struct row_member *members, uint32_t offset)
{
	for (size_t i = 0; i < MEMBERS_MAX && members[i].name; i++)
		if (members[i].offset == offset)
			return members[i].name;
	return "?";
}

static void check_columns(const struct example *e, const struct schema *schema)
{
	uint32_t cells = 0, moments = 0;
	char got[1024] = "";

	for (size_t i = 0; i < schema->column_count; i++) {
		const struct column *c = &schema->columns[i];

		ADD(got, "%s%s ", member_at(e->members, c->offset), c->is_hidden ? "*" : "");
		CHECK_UINT(c->cell, cells);
		CHECK_UINT(c->moments, moments);
		cells += c->cells;
		moments += c->kind == COLUMN_MOMENTS ? c->cells : 0;
		if (c->tag.per[0] && c->per < schema->column_count)
			CHECK_TEXT(member_at(e->members, schema->columns[c->per].offset),
				   c->tag.per);
		CHECK_INT(c->per < schema->column_count, true);
	}
	CHECK_TEXT(got, e->columns);
	CHECK_UINT(schema->cells, cells);
	CHECK_UINT(schema->moments, moments);
}

static void check_series(const struct example *e, const struct schema *schema)
{
	char got[1024] = "";

	for (size_t i = 0; i < schema->metric_count; i++) {
		struct printer printer = { got, &schema->metrics[i] };

		CHECK_INT(series_each(&schema->columns[printer.metric->column[0]], &config,
				      print_series, &printer),
			  0);
	}
	CHECK_TEXT(got, e->series);
}

static size_t count_of(char *const *globs)
{
	size_t count = 0;

	while (count < GLOBS_MAX && globs[count])
		count++;
	return count;
}

static void read_example(const struct example *e, struct schema *schema)
{
	size_t count = 0;
	struct error error = { "" };
	struct btf *btf;
	uint32_t row;

	while (count < MEMBERS_MAX && e->members[count].name)
		count++;
	btf = row_btf(e->members, count, 40 + 2 * HIST_SIZE + 8, false, &row);
	CHECK_INT(schema_read(schema, btf, "rows", row, dispatch_type, &error), 0);
	CHECK_TEXT(error.text, "");
	btf__free(btf);
	schema->subject.kind = e->subject;
	schema->labels.count = e->labels;
	schema->labels.subject = -1;
}

static void check_example(const struct example *e)
{
	struct strings collect = strings_of((const char *const *)e->collect, count_of(e->collect));
	struct strings ignore = strings_of((const char *const *)e->ignore, count_of(e->ignore));
	struct selection selection = { &config, &collect, &ignore, collect.count > 0, NULL };
	struct schema schema;

	CASE("%s", e->name);
	config.buckets = e->buckets;
	read_example(e, &schema);
	CHECK_INT(selection_apply(&selection, &schema), 0);
	check_columns(e, &schema);
	check_series(e, &schema);
	if (e->subject == SUBJECT_KEY && schema.column_count)
		CHECK_INT(schema.rank > 0 && schema.rank <= schema.column_count, true);
	schema_done(&schema);
}

/* A Collect line that selects nothing leaves the defaults on, and Ignore applies to them. */
static void test_mistaken(void)
{
	char *glob = P("no_such"), *ignored = P("derive-d");
	struct strings collect = STRINGS(glob), ignore = STRINGS(ignored);
	struct selection selection = { &config, &collect, &ignore, false, NULL };
	const struct example e = { .members = integers,
				   .columns = "a c d* ",
				   .series = "derive-a percent-c " };
	struct schema schema;

	CASE("a mistaken line");
	read_example(&e, &schema);
	CHECK_INT(selection_apply(&selection, &schema), 0);
	check_columns(&e, &schema);
	check_series(&e, &schema);
	schema_done(&schema);
}

static void test_names(void)
{
	const struct example e = { .members = statistics, .labels = 2 };
	char name[SERIES_NAME_MAX];
	struct schema schema;

	CASE("names");
	read_example(&e, &schema);
	selection_name(name, &schema, &schema.metrics[1]);
	CHECK_TEXT(name, "latency-h-*");
	CHECK_INT(selection_fits("latency-h-percentile-50", &schema, &schema.metrics[1], &config),
		  true);
	CHECK_INT(selection_fits("latency-h-percentile-50", &schema, &schema.metrics[1], NULL),
		  false);
	CHECK_INT(selection_fits("latency-h-read", &schema, &schema.metrics[1], &config), false);
	schema.labels.count = 0;
	selection_name(name, &schema, &schema.metrics[1]);
	CHECK_TEXT(name, "latency-h");
	schema_done(&schema);
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(examples); i++)
		check_example(&examples[i]);
	test_mistaken();
	test_names();
	return testing_end();
}
