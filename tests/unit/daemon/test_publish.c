/* SPDX-License-Identifier: MIT */
/*
 * From accumulators to value lists: the values that collectd gets, and their names.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/table.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/publish.h"
#include "plugin/util/clock.h"

#include <stdlib.h>

struct want {
	const char *identifier, *source;
	long double value;
};

static struct config config;

/* Reads and publishes, as a probe does in each interval; the reading before was at `before_s`. */
static void read_after(struct table *table, const struct snapshot *snapshot, uint64_t before_s,
		       uint64_t now_s)
{
	struct dispatch dispatch = { .time = TIME_T_TO_CDTIME_T(before_s) };
	struct error error = { "" };

	daemon_clear();
	daemon_now = TIME_T_TO_CDTIME_T(now_s);
	CHECK_INT(dispatch_begin(&dispatch, 10), true);
	CHECK_INT(table_read(table, snapshot, S(now_s), &error), 0);
	publish_table(table, snapshot, "sample", &config, &dispatch);
	CHECK_UINT(daemon_refused(), 0);
}

/* The same for a dispatch that has no reading before. */
static void read_and_publish(struct table *table, const struct snapshot *snapshot, uint64_t now_s)
{
	read_after(table, snapshot, 0, now_s);
}

static void check_wants(const struct want *wants, size_t count)
{
	for (const struct want *want = wants; want < wants + count && want->identifier; want++) {
		const char *source = want->source ? want->source : "value";
		long double got = daemon_value(want->identifier, source);

		CASE("%s %s", want->identifier, source);
		CHECK_REAL(got, want->value, fabsl(want->value) * 1e-12L);
	}
}

/* A row of integers, with other values in the second reading. */
static void test_integers(void)
{
	static const struct {
		struct row_member members[3];
		uint64_t before[3], now[3];
		struct want first[3], second[3];
		size_t first_count, second_count;
	} cases[] = {
		{ { MEMBER("a", U64, 0, "total_requests") },
		  { 5 },
		  { 12 },
		  { { "sample/total_requests", NULL, 5 } },
		  { { "sample/total_requests", NULL, 12 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "total_requests-get scale=3/2") },
		  { 5 },
		  { 7 },
		  { { "sample/total_requests-get", NULL, 7 } },
		  { { "sample/total_requests-get", NULL, 10 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "derive scale=3/4") },
		  { 0 },
		  { 1ULL << 63 },
		  { { "sample/derive", NULL, 0 } },
		  { { "sample/derive", NULL, 0x6000000000000000LL } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "counter") },
		  { 0 },
		  { UINT64_MAX },
		  { { "sample/counter", NULL, 0 } },
		  { { "sample/counter", NULL, UINT64_MAX } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "absolute") },
		  { 5 },
		  { 12 },
		  { { "sample/absolute", NULL, 5 } },
		  { { "sample/absolute", NULL, 7 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "gauge") },
		  { 5 },
		  { 12 },
		  { { "sample/gauge", NULL, 5 } },
		  { { "sample/gauge", NULL, 12 } },
		  1,
		  1 },
		{ { MEMBER("a", S64, 0, "gauge-x scale=1/1000") },
		  { 0 },
		  { (uint64_t)-10 },
		  { { "sample/gauge-x", NULL, 0 } },
		  { { "sample/gauge-x", NULL, -0.01L } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "gauge rate scale=1/10000000") },
		  { 0 },
		  { S(5) },
		  { { "sample/gauge", NULL, DAEMON_NONE } },
		  { { "sample/gauge", NULL, 50 } },
		  0,
		  1 },
		{ { MEMBER("a", U64, 0, "percent-slack per=all scale=100/1"),
		    MEMBER("all", U32, 8, NULL) },
		  { 5, UINT32_MAX },
		  { 17, 47 }, /* wrapped */
		  { { "sample/percent-slack", NULL, 500.0L / UINT32_MAX } },
		  { { "sample/percent-slack", NULL, 25 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "gauge-limit of=all scale=100/1"),
		    MEMBER("all", U32, 8, NULL) },
		  { 5, 10 },
		  { 30, 20 },
		  { { "sample/gauge-limit", NULL, 50 } },
		  { { "sample/gauge-limit", NULL, 150 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "percent-slack per=all"), MEMBER("all", U64, 8, "gauge") },
		  { 5, 0 },
		  { 17, 0 },
		  { { "sample/percent-slack", NULL, DAEMON_NONE }, { "sample/gauge", NULL, 0 } },
		  { { "sample/percent-slack", NULL, DAEMON_NONE }, { "sample/gauge", NULL, 0 } },
		  1,
		  1 },
		{ { MEMBER("a", U64, 0, "ps_cputime:syst scale=1/1000"),
		    MEMBER("b", U64, 8, "gauge-b"),
		    MEMBER("c", U64, 16, "ps_cputime:user scale=1/1000") },
		  { 1000, 5, 2000 },
		  { 3999, 6, 6000 },
		  { { "sample/ps_cputime", "user", 2 },
		    { "sample/ps_cputime", "syst", 1 },
		    { "sample/gauge-b", NULL, 5 } },
		  { { "sample/ps_cputime", "user", 6 },
		    { "sample/ps_cputime", "syst", 3 },
		    { "sample/gauge-b", NULL, 6 } },
		  2,
		  2 },
		{ { MEMBER("a", U64, 0, "ps_count:processes rate"),
		    MEMBER("b", U64, 8, "ps_count:threads") },
		  { 0, 8 },
		  { 20, 9 },
		  { { "sample/ps_count", "processes", NAN }, { "sample/ps_count", "threads", 8 } },
		  { { "sample/ps_count", "processes", 2 }, { "sample/ps_count", "threads", 9 } },
		  1,
		  1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct table table;
		size_t count = 0;
		uint64_t *row;

		while (count < 3 && cases[i].members[count].name)
			count++;
		row = row_table(&table, cases[i].members, count, 24, 1, SUBJECT_PROBE);
		memcpy(row, cases[i].before, sizeof(cases[i].before));
		read_and_publish(&table, NULL, 100);
		CASE("integers %zu, first reading", i);
		CHECK_UINT(daemon_dispatched(), cases[i].first_count);
		check_wants(cases[i].first, 3);
		memcpy(row, cases[i].now, sizeof(cases[i].now));
		read_and_publish(&table, NULL, 110);
		CASE("integers %zu, second reading", i);
		CHECK_UINT(daemon_dispatched(), cases[i].second_count);
		check_wants(cases[i].second, 3);
		table_done(&table);
	}
}

/* Adds to the count, the sum and the lowest limb of the squares; for small values. */
static void add_moments(uint64_t *cells, uint64_t value)
{
	cells[0]++;
	cells[1] += value;
	cells[2] += value * value;
}

static void test_moments(void)
{
	static const struct row_member members[] = {
		MEMBER("a", MOMENTS, 0, "latency-gap scale=1/10 frequency"),
		MEMBER("b", MOMENTS, 40, "response_time frequency"),
	};
	static const struct want wants[] = {
		{ "sample/latency-gap-samples", NULL, 3 },
		{ "sample/latency-gap-average", NULL, 0.6L },
		{ "sample/latency-gap-variance", NULL, 32.0L / 3 / 100 },
		{ "sample/latency-gap-cv", NULL, 0.544331053951817355L }, /* sqrt(32 / 3) / 6 */
		{ "sample/latency-gap-frequency", NULL, 1 / 0.6L },
		{ "sample/response_time-samples", NULL, 2 },
		{ "sample/response_time-average", NULL, 0 },
		{ "sample/response_time-variance", NULL, 0 },
		{ "sample/response_time-cv", NULL, NAN },
		{ "sample/response_time-frequency", NULL, NAN },
	};
	struct table table;
	uint64_t *row = row_table(&table, members, 2, 80, 1, SUBJECT_PROBE);

	CASE("moments, first reading");
	add_moments(row, 1000);
	read_and_publish(&table, NULL, 100);
	CHECK_UINT(daemon_dispatched(), 0);
	CASE("moments");
	add_moments(row, 2);
	add_moments(row, 6);
	add_moments(row, 10);
	add_moments(row + 5, 0);
	add_moments(row + 5, 0);
	read_and_publish(&table, NULL, 110);
	CHECK_UINT(daemon_dispatched(), 10);
	check_wants(wants, COUNT_OF(wants));
	table_done(&table);
}

/* If a window has few samples, it is extended by whole intervals before it, by six at most;
 * never by those before a pause, nor by the interval in which the pause ended. */
static void test_moments_window(void)
{
	static const struct {
		unsigned added;
		uint64_t value;
		double samples, average; /* NAN: not dispatched */
	} readings[] = {
		{ 9, 1000, 9, 1000 }, /* load starts in this one */
		{ 2048, 100, 2048, 100 },
		{ 2047, 10, 2047 + 2048, (2047 * 10.0 + 2048 * 100) / (2047 + 2048) },
		{ 1, 10, 2048, 10 },
		{ 2048, 7, 2048, 7 },
		{ 3, 3, 2051, (3 * 3 + 2048 * 7) / 2051.0 },
		{ 0, 0, 0, NAN },
		{ 5, 900, 5, 900 },
		{ 2, 6, 2, 6 },
		{ 0, 0, 0, NAN },
		{ 0, 0, 0, NAN },
		{ 1, 9, 1, NAN },
		{ 2, 9, 2, 9 },
		{ 1, 6, 3, 8 },
		{ 1, 6, 4, 7.5 },
		{ 1, 6, 5, 7.2 },
		{ 1, 6, 6, 7 },
		{ 1, 6, 7, 48 / 7.0 },
		{ 1, 6, 6, 6 },
		{ 1, 6, 6, 6 },
	};
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", MOMENTS, 8, "latency-other"),
		MEMBER("c", MOMENTS, 48, "latency-gap"),
	};
	struct table table;
	uint64_t *row = row_table(&table, members, COUNT_OF(members), 88, 1, SUBJECT_PROBE);

	read_and_publish(&table, NULL, 100);
	for (size_t i = 0; i < COUNT_OF(readings); i++) {
		CASE("window of moments, reading %zu", i);
		for (unsigned n = 0; n < readings[i].added; n++)
			add_moments(row + 6, readings[i].value);
		for (unsigned n = 0; n < 5000; n++)
			add_moments(row + 1, i);
		read_and_publish(&table, NULL, 110 + 10 * i);
		CHECK_REAL(daemon_gauge("sample/latency-gap-samples"), readings[i].samples, 0);
		CHECK_REAL(daemon_gauge("sample/latency-gap-average"),
			   isnan(readings[i].average) ? DAEMON_NONE : readings[i].average, 1e-12L);
		CHECK_REAL(daemon_gauge("sample/latency-gap-frequency"), DAEMON_NONE, 0);
		CHECK_REAL(daemon_gauge("sample/latency-other-average"), i, 0);
	}
	table_done(&table);
}

static const struct row_member hist_members[] = {
	MEMBER("a", HIST, 0, "latency-response scale=1/1000"),
	MEMBER("b", HIST, HIST_SIZE, "response_time-response"),
};

static void test_hist(void)
{
	/* 80 values of 10, 15 in the bucket of 1000, 5 in that of 100000. */
	static const struct want wants[] = {
		{ "sample/latency-response-percentile-50", NULL, 0.010L },
		{ "sample/latency-response-percentile-90", NULL, 1.00738076217485917L },
		{ "sample/latency-response-percentile-99.9", NULL, 100.330609965254382L },
		{ "sample/response_time-response-percentile-50", NULL, NAN },
		{ "sample/response_time-response-percentile-90", NULL, NAN },
		{ "sample/response_time-response-percentile-99.9", NULL, NAN },
		{ "sample/response_time-response-average", NULL, NAN },
	};
	struct table table;
	uint64_t *row = row_table(&table, hist_members, 2, 2 * HIST_SIZE, 1, SUBJECT_PROBE);

	CASE("hist, first reading");
	row[hist_index(10)] = 7;
	row[HIST_BUCKETS] = 70;
	read_and_publish(&table, NULL, 100);
	CHECK_UINT(daemon_dispatched(), 0);
	CASE("hist");
	row[hist_index(10)] += 80;
	row[hist_index(1000)] += 15;
	row[hist_index(100000)] += 5;
	row[HIST_BUCKETS] += 80 * 10 + 15 * 1000 + 5 * 100000;
	read_and_publish(&table, NULL, 110);
	CHECK_UINT(daemon_dispatched(), 8);
	check_wants(wants, COUNT_OF(wants));
	CASE("hist, average");
	CHECK_REAL(daemon_gauge("sample/latency-response-average"), 5.158L, 1e-12L);
	table_done(&table);
}

/* Bucket rates of both histograms, named as collectd's other plugins do. */
static void test_buckets(void)
{
	static const struct want wants[] = {
		{ "sample/bucket-latency-response-0_0.016", NULL, 8 },
		{ "sample/bucket-latency-response-0.016_0.032", NULL, 0 },
		{ "sample/bucket-latency-response-0.512_1.024", NULL, 1.5L },
		{ "sample/bucket-latency-response-65.536_131.072", NULL, 0.5L },
		{ "sample/bucket-latency-response-5.49756e+08_inf", NULL, 0.1L },
		{ "sample/bucket-response_time-response-0_16", NULL, 0.3L },
		{ "sample/bucket-response_time-response-16_32", NULL, 0 },
		{ "sample/bucket-response_time-response-5.49756e+11_inf", NULL, 0 },
	};
	struct table table;
	uint64_t *row = row_table(&table, hist_members, 2, 2 * HIST_SIZE, 1, SUBJECT_PROBE);

	CASE("buckets, first reading");
	config.buckets = true;
	read_and_publish(&table, NULL, 100);
	CHECK_UINT(daemon_dispatched(), 0);
	CASE("buckets");
	row[hist_index(10)] = 80;
	row[hist_index(1000)] = 15;
	row[hist_index(100000)] = 5;
	row[hist_index(UINT64_MAX)] = 1;
	row[HIST_CELLS] = 3;
	read_and_publish(&table, NULL, 110);
	CHECK_UINT(daemon_dispatched(), 2 * (4 + HIST_BUCKETS / HIST_SUB));
	check_wants(wants, COUNT_OF(wants));
	config.buckets = false;
	table_done(&table);
}

/* The subjects of series. */
static void test_subjects(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive-x");
	struct fake_snapshot services;
	struct table table;
	uint64_t *row;

	snapshot_init(&services, 2, 2);
	CASE("one row of a probe");
	row_table(&table, &member, 1, 8, 1, SUBJECT_PROBE);
	read_and_publish(&table, NULL, 100);
	CHECK_UINT(daemon_dispatched(), 1);
	CHECK_REAL(daemon_gauge("sample/derive-x"), 0, 0);
	table_done(&table);

	CASE("several rows of a probe");
	row = row_table(&table, &member, 1, 8, 2, SUBJECT_PROBE);
	row[1] = 5;
	read_and_publish(&table, NULL, 100);
	CHECK_UINT(daemon_dispatched(), 2);
	CHECK_REAL(daemon_gauge("sample-0/derive-x"), 0, 0);
	CHECK_REAL(daemon_gauge("sample-1/derive-x"), 5, 0);
	table_done(&table);

	CASE("services");
	show_configured(&services, 0, "other");
	show_configured(&services, 1, "a/b c");
	row = row_table(&table, &member, 1, 8, 2, SUBJECT_SERVICE);
	row[1] = 5;
	read_and_publish(&table, &services.snapshot, 100);
	CHECK_UINT(daemon_dispatched(), 2);
	CHECK_REAL(daemon_gauge("other/derive-x"), 0, 0);
	CHECK_REAL(daemon_gauge("a_b_c/derive-x"), 5, 0);
	CASE("an exited service");
	set_state(&services, 1, ROW_RETIRED);
	read_and_publish(&table, &services.snapshot, 110);
	CHECK_UINT(daemon_dispatched(), 1);
	table_done(&table);

	CASE("processes");
	show_ranked_process(&services, 1, "web-12-345", 0, 1);
	row = row_table(&table, &member, 1, 8, 2, SUBJECT_PROCESS);
	row[1] = 6;
	read_and_publish(&table, &services.snapshot, 100);
	CHECK_UINT(daemon_dispatched(), 1);
	CHECK_REAL(daemon_gauge("web-12-345/derive-x"), 6, 0);
	table_done(&table);
	snapshot_done(&services);
}

/* Counters of a service that is new between two readings were zero at the first one, so that
 * value is dispatched, too, for those that have grown. A new process gets no value for the reading before: only TopN of
 * them have series. */
static void test_begin(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive-x"),
		MEMBER("b", U64, 8, "gauge-x"),
		MEMBER("c", U64, 16, "if_octets:rx"),
		MEMBER("d", U64, 24, "if_octets:tx"),
	};
	struct fake_snapshot f;
	struct table services, processes;
	uint64_t *row = row_table(&services, members, COUNT_OF(members), 32, 5, SUBJECT_SERVICE);

	CASE("new subjects, first reading");
	snapshot_of_six(&f);
	read_after(&services, &f.snapshot, 0, 100);
	CHECK_UINT(daemon_dispatched(), 2 * 3);
	CASE("new subjects, second reading");
	show_configured(&f, 2, "web");
	show_configured(&f, 4, "api");
	row[4 * 2] = 7;
	row[4 * 4 + 3] = 5;
	read_after(&services, &f.snapshot, 100, 110);
	CHECK_UINT(daemon_dispatched(), 4 * 3 + 2);
	CHECK_REAL(daemon_gauge("web/derive-x"), 7, 0);
	CASE("new subjects, third reading");
	read_after(&services, &f.snapshot, 110, 120);
	CHECK_UINT(daemon_dispatched(), 4 * 3);
	CASE("new subjects, a command: its growth until now is other's");
	show_command(&f, 3, "db");
	row[4 * 3] = 9;
	read_after(&services, &f.snapshot, 120, 130);
	CHECK_UINT(daemon_dispatched(), 5 * 3);
	CHECK_REAL(daemon_gauge("db/derive-x"), 0, 0);
	CASE("new subjects, processes");
	row_table(&processes, members, COUNT_OF(members), 32, ROWS, SUBJECT_PROCESS);
	read_after(&processes, &f.snapshot, 0, 100);
	show_ranked_process(&f, 1, "web-1", 2, 10);
	read_after(&processes, &f.snapshot, 100, 110);
	CHECK_UINT(daemon_dispatched(), 3);
	table_done(&processes);
	table_done(&services);
	snapshot_done(&f);
}

/* All values of a reading have its time and the probe's interval. */
static void test_time(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct table table;
	double time_s = 0, interval_s = 0;

	CASE("time");
	row_table(&table, &member, 1, 8, 1, SUBJECT_PROBE);
	read_and_publish(&table, NULL, 1234);
	CHECK_INT(daemon_when("sample/derive", &time_s, &interval_s), true);
	CHECK_REAL(time_s, 1234, 0);
	CHECK_REAL(interval_s, 10, 0);
	table_done(&table);
}

int main(void)
{
	config = (struct config){ .percentiles = { 50, 90, 99.9 }, .percentile_count = 3 };
	test_integers();
	test_moments();
	test_moments_window();
	test_hist();
	test_buckets();
	test_subjects();
	test_begin();
	test_time();
	daemon_clear();
	return testing_end();
}
