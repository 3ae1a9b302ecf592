/* SPDX-License-Identifier: MIT */
/*
 * The time of a reading's values, and the readings that are skipped.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/daemon/dispatch.h"

#define LEFT_OUT 0

/* The time of a reading and that of its values. */
struct reading {
	unsigned now_ms;
	unsigned time_ms;
};

struct plan {
	const char *name;
	double interval_s;
	struct reading readings[5];
};

/* collectd rounds to whole seconds: the second changes half a second early. */
static const struct plan PLANS[] = {
	{ "on time", 10, { { 10000, 10000 }, { 20001, 20001 }, { 30000, 30000 } } },
	{ "asked again at once",
	  10,
	  { { 10000, 10000 }, { 31000, 31000 }, { 31002, LEFT_OUT }, { 41000, 41000 } } },
	{ "about the turn of a second",
	  1,
	  { { 10501, 10501 },
	    { 11499, 11500 },
	    { 12498, 12500 },
	    { 13502, 13502 },
	    { 14500, 14500 } } },
	{ "again after a time that was given",
	  1,
	  { { 10501, 10501 }, { 11499, 11500 }, { 11499, LEFT_OUT }, { 12499, 12500 } } },
	{ "soon after a late one", 1, { { 10600, 10600 }, { 11000, LEFT_OUT }, { 12000, 12000 } } },
	{ "every half second", 0.5, { { 10600, 10600 }, { 11100, 11100 }, { 11600, 11600 } } },
	{ "the clock is set back", 1, { { 90000, 90000 }, { 10000, 10000 }, { 11000, 11000 } } },
};

static void test_plan(const struct plan *plan)
{
	struct dispatch dispatch = { 0 };

	for (size_t i = 0; i < COUNT_OF(plan->readings) && plan->readings[i].now_ms; i++) {
		const struct reading *reading = &plan->readings[i];
		bool want = reading->time_ms != LEFT_OUT;
		uint64_t before = dispatch.time;

		CASE("%s, at %u ms", plan->name, reading->now_ms);
		daemon_now = MS_TO_CDTIME_T(reading->now_ms);
		CHECK_INT(dispatch_begin(&dispatch, plan->interval_s), want);
		CHECK_UINT(dispatch.time, want ? MS_TO_CDTIME_T(reading->time_ms) : before);
	}
}

static void test_read(void)
{
	struct dispatch dispatch = { 0 };

	daemon_now = MS_TO_CDTIME_T(10100);
	dispatch_begin(&dispatch, 1);
	CASE("begun, and read 1 ms before, by another's walk");
	dispatch_set_age(&dispatch, 1000000);
	CHECK_UINT(dispatch.time, MS_TO_CDTIME_T(10100) - NS_TO_CDTIME_T(1000000));
	CASE("read 200 ms after the start, and 100 ms ago");
	daemon_now = MS_TO_CDTIME_T(10400);
	dispatch_set_age(&dispatch, 100000000);
	CHECK_UINT(dispatch.time, MS_TO_CDTIME_T(10400) - NS_TO_CDTIME_T(100000000));
	CASE("the next one, on time");
	daemon_now = MS_TO_CDTIME_T(11100);
	CHECK_INT(dispatch_begin(&dispatch, 1), true);
	CHECK_UINT(dispatch.time, MS_TO_CDTIME_T(11100));
	CASE("by a walk that receivers would round to the time before");
	dispatch_set_age(&dispatch, 650000000);
	CHECK_UINT(dispatch.time, MS_TO_CDTIME_T(11100));
	CASE("by one that they would not");
	dispatch_set_age(&dispatch, 500000000);
	CHECK_UINT(dispatch.time, MS_TO_CDTIME_T(11100) - NS_TO_CDTIME_T(500000000));
}

static void give(struct dispatch *dispatch)
{
	const struct value zero = { .kind = SOURCE_DERIVE }, seven = { SOURCE_DERIVE, .derive = 7 };

	daemon_clear();
	dispatch_values(dispatch, "web", "derive", "", &seven, 1);
	dispatch_previous(dispatch, "web", "derive", "", &zero, 1);
	CHECK_INT(dispatch_batch(dispatch), 0);
	CHECK_UINT(daemon_refused(), 0);
	CHECK_REAL(daemon_gauge("web/derive"), 7, 0);
}

/* Values of the reading before are dispatched first, with the time of that one. */
static void test_previous(void)
{
	struct batch batch = { 0 };
	struct dispatch dispatch = { .batch = &batch, .time = TIME_T_TO_CDTIME_T(20) };
	const struct value zero = { .kind = SOURCE_DERIVE };
	double time_s = 0, interval_s;

	CASE("no reading before");
	give(&dispatch);
	CHECK_UINT(daemon_dispatched(), 1);
	CASE("a reading before");
	dispatch.batch = &batch;
	dispatch.previous = TIME_T_TO_CDTIME_T(10);
	give(&dispatch);
	CHECK_UINT(daemon_dispatched(), 2);
	daemon_clear();
	dispatch_previous(&dispatch, "web", "derive", "", &zero, 1);
	CHECK_REAL(daemon_gauge("web/derive"), 0, 0);
	CHECK_INT(daemon_when("web/derive", &time_s, &interval_s), true);
	CHECK_REAL(time_s, 10, 0);
	CASE("the clock has been set back");
	dispatch.batch = &batch;
	dispatch.previous = TIME_T_TO_CDTIME_T(30);
	give(&dispatch);
	CHECK_UINT(daemon_dispatched(), 1);
}

int main(void)
{
	test_read();
	test_previous();
	for (size_t i = 0; i < COUNT_OF(PLANS); i++)
		test_plan(&PLANS[i]);
	return testing_end();
}
