/* SPDX-License-Identifier: MIT */
/*
 * RUN_COUNTER tags of an object, and the estimated costs of runs. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/run_counter.h"
#include "tests/unit/fake/string_list.h"

#include "plugin/object/hook_set_parts.h"
#include "plugin/probe/hook_cost.h"
#include "plugin/probe/run_counter.h"

#include <errno.h>

/* Opens the object with each occurrence of a text replaced by another one of its length; ""
 * replaces nothing. */
static void open_with(struct object *object, const char *text, const char *by)
{
	const struct strings all = STRINGS("never");
	FILE *file = fopen(testing_built("tests/bpf/run_counter.bpf.o"), "r");
	struct error error = { "" };
	char *bytes = malloc(1 << 20);
	unsigned replaced = 0;
	size_t size;

	if (!file || !bytes)
		abort();
	size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	for (char *at = bytes; text[0] && at + strlen(text) < bytes + size; at++)
		if (!memcmp(at, text, strlen(text) + 1)) {
			memcpy(at, by, strlen(by));
			replaced++;
		}
	CHECK_INT(replaced > 0, text[0] != '\0');
	CHECK_INT(object_open_memory(object, bytes, size, "run_counter.bpf.o", &error), 0);
	CHECK_INT(hook_set_select(object, 0, &all, &error), 0);
	free(bytes);
}

static void check_mistake(const char *text, const char *by, const char *want)
{
	struct error error = { "" };
	struct object object = { 0 };

	CASE("%s", by);
	open_with(&object, text, by);
	CHECK_INT(run_counters_check(&object, &error), *want ? -EINVAL : 0);
	CHECK_TEXT(error.text, want);
	object_done(&object);
}

#define IS_NOT " is not RUN_COUNTER(NUMBER), with a number from 0 to 63"

static void test_tags(void)
{
	check_mistake("", "", "");
	check_mistake("run_counter:15", "run_counter:05", "");
	check_mistake("run_counter:15", "run_counter:64",
		      "program run_counter_twice: \"64\"" IS_NOT);
	check_mistake("run_counter:15", "run_counter:-1",
		      "program run_counter_twice: \"-1\"" IS_NOT);
	check_mistake("run_counter:15", "run_counter:1x",
		      "program run_counter_twice: \"1x\"" IS_NOT);
	check_mistake("run_counter:1", "run_counter:0",
		      "programs run_counter_begin and run_counter_end: both have RUN_COUNTER(0)");
	check_mistake("bad_counter:7", "run_counter:9",
		      "program run_counter_twice: two RUN_COUNTER tags");
	check_mistake(
		"bad_counter:3", "run_counter:5",
		"program run_counter_no_event: RUN_COUNTER is for programs that events run, not for those that readings run");
	check_mistake(
		"run_counters", "run_counterz",
		"RUN_COUNTER tags are for the map run_counters of run_counter.bpf.h, which the object does not have as this "
		"version of the plugin defines it; include that header");
}

/* A program that is not loaded has no counter. */
static void test_option(void)
{
	struct error error = { "" };
	struct object object = { 0 };

	CASE("two of one number, of which one is not in use");
	open_with(&object, "run_counter:15", "run_counter:01");
	CHECK_INT(run_counters_check(&object, &error), -EINVAL);
	bpf_program__set_autoload(bpf_object__find_program_by_name(object.bpf, "run_counter_twice"),
				  false);
	CHECK_INT(run_counters_check(&object, &error), 0);
	object_done(&object);
}

static void test_hooks(void)
{
	static const struct {
		const char *expensive, *cheap;
	} pairs[] = {
		{ "tp_btf/sched_switch", "tp_btf/sys_enter" },
		{ "tracepoint/sched/sched_switch", "tp_btf/sched_switch" },
		{ "tp/sched/sched_switch", "raw_tp/sched_switch" },
		{ "uprobe/x:f", "kprobe/f" },
		{ "uretprobe", "uprobe.s" },
		{ "kretprobe/f", "kprobe.multi/f" },
		{ "fexit/f", "iter/task" },
		{ "something", "iter.s/bpf_map_elem" },
	};

	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		CASE("%s and %s", pairs[i].expensive, pairs[i].cheap);
		CHECK_INT(hook_cost_ns(pairs[i].expensive) > hook_cost_ns(pairs[i].cheap), true);
	}
	CASE("what is no event");
	CHECK_UINT(hook_cost_ns("iter/task"), 0);
}

static void test_cost(void)
{
	struct counted_program programs[] = {
		program_of(3, 0, 70, 150),
		program_of(4, 7, 90, 150),
		program_of(5, NO_COUNTER, 450, 150),
	};
	struct run_counters counters = counters_of(programs, COUNT_OF(programs), 0);
	double runs[RUN_COUNTERS_MAX] = { [0] = 1000, [7] = 100, [8] = 1e9 };

	CASE("runs, by the cost of a hook and of a program");
	CHECK_REAL(run_counters_cost_ns(&counters, runs), 1000 * 220 + 100 * 240, 1e-6L);
	CASE("a measured cost replaces the assumed one, less the cost of measuring");
	run_counters_note(&counters, 3, 5000, 1e-6);
	CHECK_REAL(run_counters_cost_ns(&counters, runs),
		   1000 * (70 + 1000 - HOOK_STATISTICS_NS) + 100 * 240, 1e-6L);
	run_counters_note(&counters, 3, 5000, 1e-9);
	CHECK_REAL(run_counters_cost_ns(&counters, runs), 1000 * 70 + 100 * 240, 1e-6L);
	CASE("a sample without a run says nothing of one");
	run_counters_note(&counters, 4, 0, 0);
	CHECK_REAL(run_counters_cost_ns(&counters, runs), 1000 * 70 + 100 * 240, 1e-6L);
	CASE("one without a number, by the statistics");
	run_counters_note(&counters, 5, 10, 2e-6);
	CHECK_REAL(run_counters_cost_ns(&counters, runs),
		   1000 * 70 + 100 * 240 + 10 * (450 + 2000 - HOOK_STATISTICS_NS), 1e-6L);
	CASE("and at rest");
	run_counters_pause(&counters);
	CHECK_REAL(run_counters_cost_ns(&counters, runs), 1000 * 70 + 100 * 240, 1e-6L);
	CASE("not known");
	programs[2] = program_of(5, NO_COUNTER, 450, 150);
	counters = counters_of(&programs[2], 1, -1);
	CHECK_REAL(run_counters_cost_ns(&counters, runs), (long double)NAN, 0);
	counters = counters_of(&programs[2], 0, -1);
	CHECK_REAL(run_counters_cost_ns(&counters, runs), 0, 0);
}

int main(void)
{
	test_tags();
	test_option();
	test_hooks();
	test_cost();
	return testing_end();
}
