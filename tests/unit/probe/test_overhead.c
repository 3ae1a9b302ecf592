/* SPDX-License-Identifier: MIT */
/*
 * Which probes MaxOverhead turns off, when and for how long, and the messages about it; the clock
 * and the costs are played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/probe.h"
#include "tests/unit/fake/run_counter.h"

#include "plugin/daemon/self.h"
#include "plugin/probe/overhead.h"
#include "plugin/util/clock.h"
#include "plugin/util/message.h"

#include <errno.h>

#define S NS_PER_S
#define MINUTE (60 * S)
#define INTERVAL_S 10
#define PROBES 3
#define FUNCTIONS 3

static const char *const names[PROBES] = { "one", "two", "three" };
static struct probe_config blocks[PROBES];
static struct probe probes[PROBES];
static double costs[PROBES]; /* in percent, while it is attached */
static bool is_off[PROBES];
static struct counted_program programs[PROBES];
static unsigned resumed[PROBES], samples[PROBES];
static int failure; /* of attaching again */
/* Function blocks of the first probe, if it has any. */
static struct function_config function_blocks[FUNCTIONS] = {
	{ .name = "busy", .max_overhead = 5 },
	{ .name = "other" },
	{ .name = "cool", .max_overhead = 2 },
};
static struct functions functions = { .blocks = function_blocks,
				      .count = FUNCTIONS,
				      .run_map = -1 };
static struct functions *first_functions; /* of the first probe, from the next begin() on */
static double function_costs[FUNCTIONS];
static bool function_is_off[FUNCTIONS];
static struct overhead overhead;
static uint64_t now_ns;

static double ns_of(double percent)
{
	return percent / 100 * (double)NS_PER_S * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool played_since(struct cost_mark *mark, const struct probe *probe, int function,
			 uint64_t at_ns, struct cost *ret_cost)
{
	size_t i = (size_t)(probe - probes);

	mark->time_ns = at_ns;
	if (function != OVERHEAD_WHOLE) {
		*ret_cost = (struct cost){ .other_ns = function_is_off[function]
							       ? 0
							       : ns_of(function_costs[function]) };
		return true;
	}
	CHECK_INT(is_off[i], false);
	*ret_cost = (struct cost){ .runs = { 20000 }, .other_ns = ns_of(costs[i]) };
	for (size_t n = 0; i == 0 && n < FUNCTIONS; n++)
		ret_cost->other_ns += function_is_off[n] ? 0 : ns_of(function_costs[n]);
	return !isnan(costs[i]);
}

/* Measures that runs take less time than assumed. */
static void played_sample(struct probe *probe)
{
	struct counted_program *program = &programs[probe - probes];

	samples[probe - probes]++;
	set_program_costs(program, program->hook_ns, 0);
}

static void played_pause(struct probe *probe, int function)
{
	if (function == OVERHEAD_WHOLE)
		is_off[probe - probes] = true;
	else
		function_is_off[function] = true;
}

static int played_resume(struct probe *probe, int function, struct error *error)
{
	if (failure)
		return error_set(error, failure, "no such function");
	if (function != OVERHEAD_WHOLE) {
		CHECK_INT(is_off[0], false);
		function_is_off[function] = false;
		return 0;
	}
	resumed[probe - probes]++;
	is_off[probe - probes] = false;
	return 0;
}

/* All probes are off by default and were attached just now; own: limits of their Probe blocks. */
static void begin(double percent, const double own[PROBES])
{
	overhead_done(&overhead);
	daemon_clear();
	now_ns = 1000 * S;
	failure = 0;
	for (size_t i = 0; i < PROBES; i++) {
		blocks[i].max_overhead = own[i];
		probe_of(&probes[i], names[i], INTERVAL_S, &blocks[i]);
		probe_set_off_by_default(&probes[i], true);
		probe_object(&probes[i], (void *)probes); /* not NULL; never used */
		probe_functions(&probes[i], i == 0 ? first_functions : NULL);
		costs[i] = 0;
		is_off[i] = false;
		resumed[i] = samples[i] = 0;
		programs[i] = program_of(0, 0, 0, 0);
		probe_programs(&probes[i], &programs[i], 1);
	}
	CHECK_INT(overhead_open(&overhead, probes, PROBES, percent, self_notify, now_ns), 0);
	overhead.since = played_since;
	overhead.sample = played_sample;
	overhead.pause = played_pause;
	overhead.resume = played_resume;
}

static void pass(uint64_t ns)
{
	for (uint64_t end_ns = now_ns + ns; now_ns < end_ns; now_ns += S) {
		overhead_resume(&overhead, now_ns);
		overhead_step(&overhead, now_ns);
	}
}

static void check_off(bool one, bool two, bool three)
{
	CHECK_INT(is_off[0], one);
	CHECK_INT(is_off[1], two);
	CHECK_INT(is_off[2], three);
}

static const double none[PROBES] = { 0 };

static void begin_with_functions(double busy, double other, double cool)
{
	first_functions = &functions;
	begin(1, none);
	function_costs[0] = busy;
	function_costs[1] = other;
	function_costs[2] = cool;
	memset(function_is_off, 0, sizeof(function_is_off));
}

static void test_which(void)
{
	const double own[PROBES] = { 0, 5, 0 };

	CASE("those that are open, off by default or with a limit");
	begin(1, own);
	overhead_done(&overhead);
	probe_set_off_by_default(&probes[0], false);
	probe_set_off_by_default(&probes[1], false);
	probe_object(&probes[2], NULL);
	CHECK_INT(overhead_open(&overhead, probes, PROBES, 1, self_notify, now_ns), 0);
	CHECK_UINT(overhead.count, 1);
	CHECK_INT(overhead.item[0].probe == &probes[1], true);
	CASE("nothing that costs");
	begin(1, none);
	pass(10 * MINUTE);
	check_off(false, false, false);
	CHECK_UINT(daemon_messages() + daemon_notifications(), 0);
}

static void test_trial(void)
{
	CASE("in its first second");
	begin(1, none);
	costs[1] = 20;
	overhead_step(&overhead, now_ns);
	check_off(false, false, false);
	now_ns += S;
	overhead_step(&overhead, now_ns);
	check_off(false, true, false);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_WARNING);
	CHECK_TEXT(
		daemon_message(0),
		"probe two is off for 1 minute: it costs 20 % of the CPUs, and all probes that are "
		"off by default 20 %, more than MaxOverhead 1; raise that, give it one of its own, "
		"or switch it off by Enable false");
	CHECK_UINT(daemon_notifications(), 1);
	CHECK_INT(daemon_notified(NOTIF_WARNING, "testhost/ebpf/self/count-tier_two",
				  daemon_message(0)),
		  true);
	CASE("a limit of its own");
	begin(1, (const double[PROBES]){ 0, 30, 0 });
	costs[1] = 20;
	pass(MINUTE);
	check_off(false, false, false);
	costs[1] = 40;
	pass(30 * S);
	check_off(false, true, false);
	CHECK_HAS(daemon_message(0), "more than MaxOverhead 30 in its Probe block; raise that, or");
	CASE("an unknown cost is not too high");
	begin(1, none);
	costs[0] = NAN;
	pass(MINUTE);
	programs[0] = program_of(0, NO_COUNTER, 1, 0);
	costs[0] = 0;
	pass(MINUTE);
	check_off(false, false, false);
}

/* Before a probe is turned off, the time of its runs is measured. */
static void test_sample(void)
{
	CASE("nothing is sampled while all is well");
	begin(1, none);
	pass(MINUTE);
	CHECK_UINT(samples[0], 0);
	CASE("runs that take less than assumed");
	set_program_costs(&programs[0], 0, NS_PER_S / 1000);
	pass(INTERVAL_S * S);
	CHECK_UINT(samples[0], 1);
	check_off(false, false, false);
	CHECK_UINT(daemon_messages(), 0);
	CASE("at most once a reading");
	set_program_costs(&programs[0], NS_PER_S / 1000, 0);
	pass(INTERVAL_S * S);
	CHECK_UINT(samples[0], 2);
	CHECK_UINT(samples[1] + samples[2], 0);
	check_off(true, false, false);
}

/* The mean over three readings counts. */
static void test_readings(void)
{
	CASE("a peak of one reading");
	begin(1, none);
	pass(5 * S);
	costs[0] = 2.5;
	pass(INTERVAL_S * S);
	costs[0] = 0;
	pass(10 * MINUTE);
	check_off(false, false, false);
	CASE("slightly above the limit: off at the third reading");
	costs[0] = 1.1;
	pass(2 * INTERVAL_S * S);
	check_off(false, false, false);
	pass(INTERVAL_S * S);
	check_off(true, false, false);
	CASE("far above the limit: off at the first");
	begin(1, none);
	pass(5 * S);
	costs[0] = 20;
	pass(INTERVAL_S * S);
	check_off(true, false, false);
}

static void test_together(void)
{
	CASE("only the most expensive one is turned off");
	begin(1, none);
	costs[0] = 0.4;
	costs[1] = 0.9;
	costs[2] = 0.5;
	pass(2 * S);
	check_off(false, true, false);
	CHECK_HAS(daemon_message(0), "it costs 0.9 % of the CPUs, and all probes that are off by "
				     "default 1.8 %, more than MaxOverhead 1;");
	CASE("a probe on trial is turned off before others");
	costs[1] = 0.3;
	pass(2 * MINUTE);
	check_off(false, true, false);
	CHECK_UINT(resumed[1], 1);
	CASE("and stays where there is room");
	costs[2] = 0.1;
	pass(3 * MINUTE);
	check_off(false, false, false);
	CASE("a limit of its own is none of all");
	begin(1, (const double[PROBES]){ 0, 50, 0 });
	costs[0] = 0.9;
	costs[1] = 40;
	pass(MINUTE);
	check_off(false, false, false);
	CASE("two go");
	begin(1, none);
	costs[0] = 3;
	costs[1] = 2;
	costs[2] = 0.9;
	pass(2 * S);
	check_off(true, true, false);
	CHECK_UINT(daemon_notifications(), 2);
}

/* The time at which the first probe is attached again. */
static uint64_t next_try_ns(void)
{
	unsigned before = resumed[0];
	uint64_t begin_ns = now_ns;

	while (resumed[0] == before && now_ns - begin_ns < 300 * MINUTE)
		pass(S);
	return now_ns - begin_ns;
}

static void test_back_off(void)
{
	static const unsigned minutes[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };

	CASE("longer and longer");
	begin(1, none);
	costs[0] = 5;
	pass(2 * S);
	for (size_t i = 0; i < COUNT_OF(minutes); i++) {
		CHECK_REAL((double)next_try_ns() / (double)S, minutes[i] * 60, 3);
		pass(3 * S);
		CHECK_INT(is_off[0], true);
	}
	CASE("one notification; the log tells each time");
	CHECK_UINT(daemon_notifications(), 1);
	CHECK_UINT(daemon_messages(), 1 + COUNT_OF(minutes));
	CHECK_INT(daemon_severity(1), LOG_NOTICE);
	CHECK_HAS(daemon_message(1), "probe one is off for 2 minutes: it costs 5 %");
	CASE("on again");
	costs[0] = 0.5;
	next_try_ns();
	pass(3 * S);
	CHECK_INT(is_off[0], false);
	CHECK_UINT(daemon_notifications(), 2);
	CHECK_INT(daemon_notified(NOTIF_OKAY, "testhost/ebpf/self/count-tier_one",
				  "probe one is on again: it costs 0.5 % of the CPUs"),
		  true);
	CASE("half as long for each such time that it lasted");
	pass(100 * MINUTE); /* an hour, then half an hour */
	costs[0] = 5;
	pass(INTERVAL_S * S);
	CHECK_REAL((double)next_try_ns() / (double)S, 15 * 60, INTERVAL_S + 3);
	CASE("never less than three intervals");
	begin(1, none);
	probe_set_interval(&probes[0], 100);
	costs[0] = 5;
	pass(2 * S);
	CHECK_HAS(daemon_message(0), "probe one is off for 5 minutes: ");
	CHECK_REAL((double)next_try_ns() / (double)S, 300, 3);
}

static void test_failure(void)
{
	CASE("it cannot be attached again");
	begin(1, none);
	costs[0] = 5;
	pass(2 * S);
	costs[0] = 0;
	failure = -ENOENT;
	pass(2 * MINUTE);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_TEXT(daemon_message(1), "probe one is off for 2 minutes: cannot switch it on again: "
				      "no such function");
	CHECK_UINT(daemon_notifications(), 1);
	failure = 0;
	pass(3 * MINUTE);
	check_off(false, false, false);
	CHECK_UINT(daemon_notifications(), 2);
}

/* Limits of Function blocks; the last test, as the probe's functions stay. */
static void test_functions(void)
{
	CASE("functions with a limit, before their probe");
	begin_with_functions(4, 0.3, 1);
	CHECK_UINT(overhead.count, 2 + PROBES);
	CHECK_INT(overhead.item[1].function, 2);
	CHECK_INT(overhead.item[2].function, OVERHEAD_WHOLE);
	CASE("they do not count for the limit of their probe");
	pass(MINUTE);
	check_off(false, false, false);
	CHECK_INT(function_is_off[0] || function_is_off[2], false);
	CHECK_UINT(daemon_messages(), 0);
	CASE("only the function above its limit is turned off");
	function_costs[0] = 20;
	pass(INTERVAL_S * S);
	check_off(false, false, false);
	CHECK_INT(function_is_off[0], true);
	CHECK_INT(function_is_off[2], false);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_TEXT(
		daemon_message(0),
		"function busy of the probe one is off for 1 minute: it costs 9.33 % of the CPUs, more than "
		"MaxOverhead 5 in its Function block; raise that, or leave the block out");
	CHECK_INT(daemon_notified(NOTIF_WARNING, "testhost/ebpf/self/count-tier_one",
				  daemon_message(0)),
		  true);
	CASE("it is tried again, in vain and then not");
	pass(MINUTE + 2 * S);
	CHECK_INT(function_is_off[0], true);
	CHECK_HAS(daemon_message(1), "function busy of the probe one is off for 2 minutes:");
	function_costs[0] = 1;
	pass(2 * MINUTE + 2 * S);
	CHECK_INT(function_is_off[0], false);
	CHECK_TEXT(daemon_message(2),
		   "function busy of the probe one is on again: it costs 1 % of the CPUs");
	check_off(false, false, false);
	CASE("one without a limit turns off the whole probe");
	function_costs[0] = 20;
	pass(INTERVAL_S * S);
	CHECK_INT(function_is_off[0], true);
	function_costs[1] = 30;
	pass(10 * MINUTE);
	check_off(true, false, false);
	function_costs[0] = function_costs[1] = 0;
	pass(30 * MINUTE);
	check_off(false, false, false);
	CHECK_INT(function_is_off[0], false);
}

int main(void)
{
	message_to(daemon_record);
	test_which();
	test_trial();
	test_sample();
	test_readings();
	test_together();
	test_back_off();
	test_failure();
	test_functions();
	overhead_done(&overhead);
	return testing_end();
}
