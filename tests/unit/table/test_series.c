/* SPDX-License-Identifier: MIT */
/*
 * Owners of series: a table registers exactly the series that it dispatches, and no two tables have
 * the same one.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/label.h"
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/string_list.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/publish.h"
#include "plugin/schema/series.h"
#include "plugin/table/table_series.h"
#include "plugin/util/clock.h"

#include <errno.h>

#define MEMBERS_MAX 2
#define ROW_SIZE (2 * HIST_SIZE)

static struct config config;

/* A table of a probe; kind NONE: there is none. */
struct example {
	const char *probe;
	enum subject_kind kind;
	uint32_t rows;
	struct row_member members[MEMBERS_MAX];
};

static void make_table(struct table *table, const struct example *example)
{
	size_t count = 0;

	while (count < MEMBERS_MAX && example->members[count].name)
		count++;
	row_table(table, example->members, count, ROW_SIZE, example->rows, example->kind);
}

static int add(struct registry *registry, struct subjects *subjects, const struct example *example,
	       struct error *error)
{
	struct table table;
	int status;

	make_table(&table, example);
	status =
		table_register(registry, subjects, example, example->probe, &table, &config, error);
	table_done(&table);
	return status;
}

#define DERIVE MEMBER("a", U64, 0, "derive")
#define LATENCY MEMBER("a", MOMENTS, 0, "latency-x frequency")

/* Tables that conflict or not, while a service is called nginx. */
static void test_two(void)
{
	static const struct {
		const char *name;
		struct example first, second;
		const char *error;
	} cases[] = {
		{ "the same for services",
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  { "b", SUBJECT_SERVICE, 3, { DERIVE } },
		  "map rows: the series derive of services are those of map rows of the probe a" },
		{ "another for services",
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "derive-x") } },
		  NULL },
		{ "another type",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "gauge-x") } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "derive-x") } },
		  NULL },
		{ "two of one probe",
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  "are those of map rows of the probe a already" },
		{ "the same for processes",
		  { "a", SUBJECT_PROCESS, 3, { DERIVE } },
		  { "b", SUBJECT_PROCESS, 3, { DERIVE } },
		  "the series derive of processes are" },
		{ "services and processes",
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  { "a", SUBJECT_PROCESS, 3, { DERIVE } },
		  NULL },
		{ "of two probes",
		  { "a", SUBJECT_PROBE, 1, { DERIVE } },
		  { "b", SUBJECT_PROBE, 1, { DERIVE } },
		  NULL },
		{ "of one probe",
		  { "a", SUBJECT_PROBE, 1, { DERIVE } },
		  { "a", SUBJECT_PROBE, 1, { DERIVE } },
		  "the series derive of a are" },
		{ "rows with and without a number",
		  { "a", SUBJECT_PROBE, 1, { DERIVE } },
		  { "a", SUBJECT_PROBE, 2, { DERIVE } },
		  NULL },
		{ "a row of another probe's name",
		  { "a", SUBJECT_PROBE, 8, { DERIVE } },
		  { "a-3", SUBJECT_PROBE, 1, { DERIVE } },
		  "the series derive of a are" },
		{ "a probe of another row's name",
		  { "a-3", SUBJECT_PROBE, 1, { DERIVE } },
		  { "a", SUBJECT_PROBE, 8, { DERIVE } },
		  "the series derive of a-3 are" },
		{ "rows of rows",
		  { "a-3", SUBJECT_PROBE, 8, { DERIVE } },
		  { "a", SUBJECT_PROBE, 8, { DERIVE } },
		  NULL },
		{ "a probe of a service's name",
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  { "nginx", SUBJECT_PROBE, 1, { DERIVE } },
		  "the series derive of nginx are" },
		{ "before a probe that knows services",
		  { "nginx", SUBJECT_PROBE, 1, { DERIVE } },
		  { "a", SUBJECT_SERVICE, 3, { DERIVE } },
		  "the series derive of nginx are" },
		{ "a probe of a service's name, with other series",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "gauge") } },
		  { "nginx", SUBJECT_PROBE, 1, { DERIVE } },
		  NULL },
		{ "an integer called like an average",
		  { "a", SUBJECT_SERVICE, 3, { LATENCY } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "latency-x-average") } },
		  "the series latency-x-average of services" },
		{ "an integer called like a frequency",
		  { "a", SUBJECT_SERVICE, 3, { LATENCY } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "latency-x-frequency") } },
		  "the series latency-x-frequency of services" },
		{ "a frequency that there is not",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", MOMENTS, 0, "latency-x") } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "latency-x-frequency") } },
		  NULL },
		{ "an integer called like a percentile",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", HIST, 0, "latency-x") } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "latency-x-percentile-99.9") } },
		  "the series latency-x-percentile-99.9 of services" },
		{ "a percentile that is not asked for",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", HIST, 0, "latency-x") } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "latency-x-percentile-98") } },
		  NULL },
		{ "an integer called like a bucket",
		  { "a", SUBJECT_SERVICE, 3, { MEMBER("a", HIST, 0, "latency-x") } },
		  { "b", SUBJECT_SERVICE, 3, { MEMBER("a", U64, 0, "bucket-latency-x-16_32") } },
		  "the series bucket-latency-x-16_32 of services" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct registry registry = { 0 };
		struct subjects subjects = { 0 };
		struct error error = { "" };

		CASE("two tables, %s", cases[i].name);
		subjects_enter(&subjects, SUBJECT_SERVICE, "nginx");
		CHECK_INT(add(&registry, &subjects, &cases[i].first, &error), 0);
		CHECK_INT(add(&registry, &subjects, &cases[i].second, &error),
			  cases[i].error ? -EEXIST : 0);
		CHECK_HAS(error.text, cases[i].error ? cases[i].error : "");
		CHECK_UINT(registry.count, cases[i].error ? 1 : 2);
		CASE("two tables, %s, the first one removed", cases[i].name);
		registry_remove(&registry, &cases[i].second);
		registry_remove(&registry, &cases[i].first);
		CHECK_UINT(registry.count, 0);
		CHECK_INT(add(&registry, &subjects, &cases[i].second, &error), 0);
		registry_done(&registry);
		subjects_done(&subjects);
	}
}

/* A table in which two members have the same series. */
static void test_one(void)
{
	static const struct {
		struct row_member members[MEMBERS_MAX];
		const char *want;
	} cases[] = {
		{ { MEMBER("a", MOMENTS, 0, "latency"), MEMBER("b", U64, 40, "latency-cv") },
		  "map rows: two of its series are called latency-cv; change one of the tags" },
		{ { MEMBER("a", MOMENTS, 0, "latency-x"), MEMBER("b", HIST, 40, "latency-x-y") },
		  NULL },
		{ { MEMBER("a", U64, HIST_SIZE, "latency-average"),
		    MEMBER("b", HIST, 0, "latency") },
		  "two of its series are called latency-average" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct example example = { .probe = "a", .kind = SUBJECT_SERVICE, .rows = 1 };
		struct registry registry = { 0 };
		struct subjects subjects = { 0 };
		struct error error = { "" };

		CASE("one table %zu", i);
		memcpy(example.members, cases[i].members, sizeof(example.members));
		CHECK_INT(add(&registry, &subjects, &example, &error), cases[i].want ? -EEXIST : 0);
		CHECK_HAS(error.text, cases[i].want ? cases[i].want : "");
		registry_done(&registry);
		subjects_done(&subjects);
	}
}

/* No command has the name of a probe's row, even if the probe is off. */
static void test_rows(void)
{
	static const struct example one = { "net", SUBJECT_PROBE, 1, { DERIVE } },
				    more = { "disk", SUBJECT_PROBE, 2, { DERIVE } };
	struct registry registry = { 0 };
	struct subjects subjects = { 0 };
	struct error error = { "" };

	CASE("rows of a probe");
	CHECK_INT(add(&registry, &subjects, &one, &error), 0);
	CHECK_INT(add(&registry, &subjects, &more, &error), 0);
	registry_remove(&registry, &one);
	CHECK_INT(add(&registry, &subjects, &one, &error), 0);
	CHECK_UINT(subjects.reserved_count, 2);
	registry_done(&registry);
	CHECK_INT(subjects_enter(&subjects, SUBJECT_COMMAND, "net"), 0);
	CHECK_INT(subjects_enter(&subjects, SUBJECT_COMMAND, "disk"), 1);
	CHECK_INT(subjects_enter(&subjects, SUBJECT_COMMAND, "disk-7"), 2);
	CHECK_TEXT(subjects.subject[0].name, "net+2571b219");
	CHECK_TEXT(subjects.subject[1].name, "disk");
	CHECK_TEXT(subjects.subject[2].name, "disk-7+6342f695");
	subjects_done(&subjects);
}

/* The series of a table that are dispatched are those that it registers, also if some series of
 * each metric are off. */
static void test_dispatched(uint32_t series, size_t count)
{
	static const struct row_member members[] = {
		MEMBER("a", HIST, 0, "latency-response scale=1/1000"),
		MEMBER("b", MOMENTS, HIST_SIZE, "response_time frequency"),
		MEMBER("c", U64, HIST_SIZE + 40, "ps_cputime:user"),
		MEMBER("d", U64, HIST_SIZE + 48, "ps_cputime:syst"),
	};
	struct registry registry = { 0 };
	struct subjects subjects = { 0 };
	struct dispatch dispatch = { 0 };
	struct error error = { "" };
	struct table table;
	uint64_t *row = row_table(&table, members, COUNT_OF(members), ROW_SIZE, 1, SUBJECT_PROBE);

	CASE("what is dispatched of the series %x", series);
	row_table_series(&table, series);
	CHECK_INT(table_read(&table, NULL, NS_PER_S, &error), 0);
	row[7] += 9;
	row[HIST_SIZE / 8] += 9;
	row[HIST_SIZE / 8 + 1] += 9;
	CHECK_INT(table_read(&table, NULL, 2 * NS_PER_S, &error), 0);
	daemon_clear();
	CHECK_INT(dispatch_begin(&dispatch, 10), true);
	publish_table(&table, NULL, "sample", &config, &dispatch);
	CHECK_INT(table_register(&registry, &subjects, &table, "sample", &table, &config, &error),
		  0);
	CHECK_UINT(daemon_dispatched(), registry.set[0].count);
	CHECK_UINT(registry.set[0].count, count);
	for (size_t i = 0; i < registry.set[0].count; i++) {
		char identifier[512];

		snprintf(identifier, sizeof(identifier), "sample/%s", registry.set[0].series[i]);
		CASE("%.200s", identifier);
		CHECK_INT(daemon_when(identifier, &(double){ 0 }, &(double){ 0 }), true);
	}
	registry_done(&registry);
	subjects_done(&subjects);
	table_done(&table);
}

/* A table of keys with `count` labels of this word in its type instances. */
static int add_labelled(struct registry *registry, struct subjects *subjects,
			const struct example *example, const char *word, size_t count,
			struct error *error)
{
	struct labels labels = labels_none(0, NO_LABEL);
	struct table table;
	int status;

	make_table(&table, example);
	for (size_t i = 0; i < count; i++)
		labels_add(&labels, label_of(word, 0, 0));
	row_table_labels(&table, &labels);
	status =
		table_register(registry, subjects, example, example->probe, &table, &config, error);
	labels = labels_none(0, NO_LABEL);
	row_table_labels(&table, &labels);
	table_done(&table);
	return status;
}

static int add_keys(struct registry *registry, struct subjects *subjects,
		    const struct example *example, size_t labels, struct error *error)
{
	return add_labelled(registry, subjects, example, "string", labels, error);
}

/* Series of a class that no block has are not registered. */
static void test_classes(void)
{
	static const struct example keys = {
		"a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive") }
	};
	static const struct {
		const char *name;
		struct example other;
		int status;
	} cases[] = {
		{ "not configured",
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive-4xx") } },
		  0 },
		{ "configured",
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive-5xx") } },
		  -EEXIST },
	};
	const struct strings names = STRINGS("unknown", "5xx");
	struct strings before = config.classes;

	config.classes = names;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct registry registry = { 0 };
		struct subjects subjects = { 0 };
		struct error error = { "" };

		CASE("classes: %s", cases[i].name);
		CHECK_INT(add_labelled(&registry, &subjects, &keys, "class", 1, &error), 0);
		CHECK_UINT(registry.set[0].count, names.count);
		CHECK_INT(add(&registry, &subjects, &cases[i].other, &error), cases[i].status);
		registry_done(&registry);
		subjects_done(&subjects);
	}
	config.classes = before;
}

/* No value of a label makes a series of another table. */
static void test_labels(void)
{
	static const struct {
		const char *name;
		struct example keys;
		size_t labels;
		struct example other;
		int status;
	} cases[] = {
		{ "a label that could be it",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive") } },
		  1,
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive-x") } },
		  -EEXIST },
		{ "of another type instance",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive-call") } },
		  1,
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive-x") } },
		  0 },
		{ "a label has no hyphen",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive") } },
		  1,
		  { "b", SUBJECT_PROBE, 1, { MEMBER("a", U64, 0, "derive-x-y") } },
		  0 },
		{ "two labels",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive") } },
		  2,
		  { "b", SUBJECT_PROBE, 1, { MEMBER("a", U64, 0, "derive-x-y") } },
		  -EEXIST },
		{ "a statistic",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", HIST, 0, "latency") } },
		  1,
		  { "b", SUBJECT_PROCESS, 1, { MEMBER("a", MOMENTS, 0, "latency-x") } },
		  -EEXIST },
		{ "no label",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive") } },
		  0,
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive") } },
		  -EEXIST },
		{ "no label, another series",
		  { "a", SUBJECT_KEY, 2, { MEMBER("a", U64, 0, "derive-y") } },
		  0,
		  { "b", SUBJECT_SERVICE, 1, { MEMBER("a", U64, 0, "derive") } },
		  0 },
	};
	static const struct example twice = { "c",
					      SUBJECT_KEY,
					      2,
					      { MEMBER("a", HIST, 0, "latency"),
						MEMBER("b", MOMENTS, HIST_SIZE, "latency-x") } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct registry registry = { 0 };
		struct subjects subjects = { 0 };
		struct error error = { "" };

		CASE("labels: %s", cases[i].name);
		CHECK_INT(add_keys(&registry, &subjects, &cases[i].keys, cases[i].labels, &error),
			  0);
		CHECK_INT(add(&registry, &subjects, &cases[i].other, &error), cases[i].status);
		registry_done(&registry);
		subjects_done(&subjects);
		CASE("labels, the other first: %s", cases[i].name);
		CHECK_INT(add(&registry, &subjects, &cases[i].other, &error), 0);
		CHECK_INT(add_keys(&registry, &subjects, &cases[i].keys, cases[i].labels, &error),
			  cases[i].status);
		registry_done(&registry);
		subjects_done(&subjects);
	}
	CASE("labels: two columns, latency-LABEL-average and latency-x-LABEL");
	{
		struct registry registry = { 0 };
		struct subjects subjects = { 0 };
		struct error error = { "" };

		CHECK_INT(add_keys(&registry, &subjects, &twice, 1, &error), 0);
		CHECK_INT(add_keys(&registry, &subjects, &twice, 1, &error), -EEXIST);
		registry_done(&registry);
		subjects_done(&subjects);
	}
}

int main(void)
{
	config_init(&config);
	config.buckets = true;
	test_two();
	test_one();
	test_rows();
	test_dispatched(UINT32_MAX, 1 + 5 + 1 + config.percentile_count + HIST_BUCKETS / HIST_SUB);
	test_dispatched(1U << SERIES_VALUE | 1U << SERIES_CV, 2);
	test_dispatched(1U << SERIES_AVERAGE | 1U << (SERIES_PERCENTILES + 1), 3);
	test_dispatched(1U << SERIES_BUCKETS, HIST_BUCKETS / HIST_SUB);
	for (unsigned i = SERIES_SAMPLES; i <= SERIES_FREQUENCY; i++)
		test_dispatched(1U << i, i == SERIES_AVERAGE ? 2 : 1);
	test_labels();
	test_classes();
	config_done(&config);
	daemon_clear();
	return testing_end();
}
