/* SPDX-License-Identifier: MIT */
/*
 * The life of a row: hidden, shown, retired, free for another name. The kernel's side is played.
 */
#include "tests/unit/fake/services.h"

#include "plugin/cgroup/state.h"

static bool known(const char *text)
{
	struct group_key key = key_of(GROUP_COMMAND, text);
	struct service_name name;

	return maps_get("service_names", &key, &name);
}

/* The number of rows that the configuration permits; half of those for names are for units and
 * containers. */
static void test_rows(void)
{
	static struct service_config services[2];
	const struct {
		unsigned from; /* enum service_source */
		uint32_t names, others;
	} cases[] = {
		{ 0, 0, 0 },
		{ SERVICES_FROM_COMMANDS, 7, 7 },
		{ SERVICES_FROM_COMMANDS | SERVICES_FROM_UNITS, 7, 4 },
		/* Those of users do not use the reserve. */
		{ SERVICES_FROM_CONTAINERS, 7, state_is_readable() ? 4 : 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct config config = {
			.service_count = 2,
			.services = services,
			.max_services = 7,
			.services_from = cases[i].from,
		};
		uint32_t rows = SERVICE_FIRST + 2 + cases[i].names;
		struct lifecycle lifecycle = { 0 };
		struct object object = { 0 };
		struct error error = { "" };

		CASE("MaxServices 7, from %#x", cases[i].from);
		CHECK_INT(engine_object_open(&object, &error), 0);
		CHECK_INT(lifecycle_prepare(&lifecycle, &config, &object, INTERVAL_S, &error), 0);
		CHECK_UINT(lifecycle.row_count, rows);
		CHECK_UINT(lifecycle.reserve_begin, SERVICE_FIRST + 2 + cases[i].others);
		CHECK_UINT(bpf_map__max_entries(object_map(&object, "services")), rows);
		lifecycle_done(&lifecycle);
		object_done(&object);
	}
}

/* It must be alive for an interval, less the jitter of readings. */
static void test_age(void)
{
	static const struct {
		double after_s;
		enum row_state want;
		const char *subject;
	} cases[] = {
		{ 0.001, ROW_HIDDEN, "other" }, { 5, ROW_HIDDEN, "other" },
		{ 8.7, ROW_HIDDEN, "other" },   { 8.75, ROW_SHOWN, "bash" },
		{ 10, ROW_SHOWN, "bash" },      { 1000, ROW_SHOWN, "bash" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("seen again after %g s", cases[i].after_s);
		fixture_init(&f);
		claim_row(&f, 4, "bash", 2);
		CHECK_TEXT(subject(&f, 4), "other");
		refresh(&f, 100);
		CHECK_INT(state(&f, 4), ROW_HIDDEN);
		CHECK_UINT(f.services.lifecycle.hidden, 1);
		CHECK_UINT(f.services.lifecycle.shown, 3);
		refresh(&f, 100 + cases[i].after_s);
		CHECK_INT(state(&f, 4), cases[i].want);
		CHECK_TEXT(subject(&f, 4), cases[i].subject);
		CHECK_UINT(f.services.lifecycle.hidden, cases[i].want == ROW_HIDDEN);
		CHECK_UINT(f.services.lifecycle.shown, 3 + (cases[i].want == ROW_SHOWN));
		CHECK_INT(known("bash"), true);
		fixture_done(&f);
	}
}

/* A service that used much is shown at once, even if it has exited. */
static void test_active(void)
{
	for (int64_t processes = 0; processes < 2; processes++) {
		struct fixture f;

		CASE("active, %" PRId64 " alive", processes);
		fixture_init(&f);
		claim_row(&f, 3, "cc1", processes);
		refresh(&f, 100);
		snapshot_set_active(f.services.snapshot, 3);
		refresh(&f, 101);
		CHECK_INT(state(&f, 3), ROW_SHOWN);
		CHECK_TEXT(subject(&f, 3), "cc1");
		CHECK_INT(f.services.lifecycle.active[3], false);
		fixture_done(&f);
	}
	CASE("active beyond the rows");
	struct fixture f;
	fixture_init(&f);
	snapshot_set_active(f.services.snapshot, ROWS);
	snapshot_set_active(f.services.snapshot, UINT32_MAX);
	fixture_done(&f);
}

/* A short life: it is never shown, and the row is free once all probes have read its counts. */
static void test_short_life(void)
{
	struct fixture f;
	uint32_t row = 0;
	int fast, slow;

	CASE("short life");
	fixture_init(&f);
	fast = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	slow = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	claim_row(&f, 5, "true", 1);
	refresh(&f, 100);
	set_processes(&f, 5, 0);
	refresh(&f, 105);
	CHECK_INT(state(&f, 5), ROW_HIDDEN);
	CHECK_INT(known("true"), true);
	refresh(&f, 110);
	CHECK_INT(state(&f, 5), ROW_RETIRED);
	CHECK_INT(known("true"), false);
	CHECK_TEXT(subject(&f, 5), "other");
	CASE("short life, one of two has read");
	read_at(&f, slow, 110); /* at the time when it retired: may have missed some counts */
	read_at(&f, fast, 115);
	refresh(&f, 115);
	CHECK_INT(state(&f, 5), ROW_RETIRED);
	CHECK_UINT(maps_count("service_free"), 0);
	CASE("short life, all have read");
	read_at(&f, slow, 120);
	refresh(&f, 125);
	CHECK_INT(state(&f, 5), ROW_FREE);
	CHECK_UINT(f.kernel_rows[5].flags, 0);
	CHECK_UINT(maps_count("service_free"), 1);
	CHECK_INT(maps_pop("service_free", &row), true);
	CHECK_UINT(row, 5);
	CASE("short life, nothing happens any more");
	refresh(&f, 300);
	CHECK_INT(state(&f, 5), ROW_FREE);
	CHECK_UINT(maps_count("service_free"), 0);
	fixture_done(&f);
}

/* A service is shown, exits, and is hidden after ten intervals. */
static void test_exited(void)
{
	struct fixture f;
	uint64_t generation;

	CASE("exited");
	fixture_init(&f);
	generation = live_until_120(&f, 3, "bash");
	refresh(&f, 220);
	CHECK_INT(state(&f, 3), ROW_SHOWN);
	CASE("exited and started again");
	set_processes(&f, 3, 1);
	refresh(&f, 221);
	set_processes(&f, 3, 0);
	refresh(&f, 225);
	refresh(&f, 325);
	CHECK_INT(state(&f, 3), ROW_SHOWN);
	CASE("exited after much growth");
	snapshot_set_active(f.services.snapshot, 3);
	refresh(&f, 326);
	CHECK_INT(state(&f, 3), ROW_SHOWN);
	CASE("exited for longer");
	refresh(&f, 327);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	CHECK_TEXT(subject(&f, 3), "other");
	CHECK_INT(known("bash"), false);
	refresh(&f, 328); /* no probe has a reading */
	CHECK_INT(state(&f, 3), ROW_FREE);
	CASE("the name comes back in another row");
	claim_row(&f, 5, "bash", 1);
	refresh(&f, 330);
	refresh(&f, 340);
	CHECK_TEXT(subject(&f, 5), "bash");
	CHECK_INT(generation_of(&f, 5) > generation, 1);
	fixture_done(&f);
}

/* A name that returns before its series are forgotten continues them; for a slow probe they are
 * remembered longer. */
static void test_back(void)
{
	static const struct {
		double fast_s, slow_s, back_s;
		bool same;
	} cases[] = {
		{ 330, 330, 331, true },  { 357, 359, 360, true }, { 359, 358, 360, true },
		{ 359, 359, 360, false }, { 359, 418, 419, true }, { 359, 419, 420, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool slower = cases[i].slow_s > 360;
		uint64_t generation;
		struct fixture f;
		int fast, slow;

		CASE("back at %g, the slow probe has read at %g", cases[i].back_s, cases[i].slow_s);
		fixture_init(&f);
		fast = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
		slow = subscribers_add(&f.services.lifecycle.subscribers,
				       slower ? 3 * INTERVAL_S : INTERVAL_S, NULL, NULL);
		generation = live_until_120(&f, 3, "bash");
		refresh(&f, 328);
		CHECK_INT(state(&f, 3), ROW_RETIRED);
		CHECK_TEXT(subject(&f, 3), "other");
		read_at(&f, fast, cases[i].fast_s);
		read_at(&f, slow, cases[i].slow_s);
		claim_row(&f, 5, "bash", 1);
		refresh(&f, cases[i].back_s);
		CHECK_INT(state(&f, 3), ROW_FREE); /* its subject stays */
		refresh(&f, cases[i].back_s + INTERVAL_S);
		CHECK_TEXT(subject(&f, 5), "bash");
		CHECK_INT(generation_of(&f, 5) == generation, cases[i].same);
		fixture_done(&f);
	}
}

/* A process that starts while the name is withdrawn keeps the row in use. */
static void test_retired_with_processes(void)
{
	struct fixture f;

	CASE("retired, a process is there");
	fixture_init(&f);
	claim_row(&f, 3, "true", 0);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	set_processes(&f, 3, 1);
	refresh(&f, 120);
	refresh(&f, 130);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	CHECK_TEXT(subject(&f, 3), "other");
	set_processes(&f, 3, 0);
	refresh(&f, 140);
	CHECK_INT(state(&f, 3), ROW_FREE);
	fixture_done(&f);
}

/* If the name belongs to another row by now, it stays that row's. */
static void test_name_of_another_row(void)
{
	struct group_key key = key_of(GROUP_COMMAND, "true");
	struct service_name name = { .row = 4 };
	struct fixture f;

	CASE("the name is another row's");
	fixture_init(&f);
	claim_row(&f, 3, "true", 0);
	maps_put("service_names", &key, &name);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	CHECK_INT(maps_get("service_names", &key, &name), true);
	CHECK_UINT(name.row, 4);
	fixture_done(&f);
}

/* Names of the plugin's own series, names of the maximum length, and names with invalid
 * characters. */
static void test_names(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "bash", "bash" },
		{ "self", "self+d40792b8" },
		{ "other", "other+c2562a56" },
		{ "kernel", "kernel+f7c3fb19" },
		{ "0123456789abcdef", "0123456789abcdef" },
		{ "a/b c", "a_b_c" },
		{ "", "_" },
		{ "web", "web+48721ef2" },
		{ "web ", "web_" },
		{ "web-7557-204877", "web-7557-204877+787609fc" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("name \"%s\"", cases[i].name);
		fixture_init(&f);
		claim_row(&f, 3, cases[i].name, 1);
		refresh(&f, 100);
		refresh(&f, 110);
		CHECK_TEXT(subject(&f, 3), cases[i].want);
		fixture_done(&f);
	}
}

/* Command names that are the same after cleaning have series of their own. */
static void test_alike(void)
{
	struct fixture f;

	CASE("alike");
	fixture_init(&f);
	claim_row(&f, 3, "a b", 1);
	claim_row(&f, 4, "a_b", 1);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "a_b+04833893");
	CHECK_TEXT(subject(&f, 4), "a_b");
	fixture_done(&f);
}

/* The number of new names per hour is limited; a name that returns is not new. */
static void test_new_names(void)
{
	struct lifecycle *lifecycle;
	struct fixture f;

	CASE("one new name an hour");
	fixture_init(&f);
	lifecycle = &f.services.lifecycle;
	allowance_init(&lifecycle->new_series_budget, 1);
	subscribers_add(&lifecycle->subscribers, 43200, NULL, NULL);
	claim_row(&f, 3, "a", 1);
	claim_row(&f, 4, "b", 1);
	refresh(&f, 100);
	refresh(&f, 110);
	refresh(&f, 120);
	CHECK_TEXT(subject(&f, 3), "a");
	CHECK_TEXT(subject(&f, 4), "other");
	CHECK_UINT(f.services.snapshot->names_refused, 1);
	CHECK_UINT(f.services.snapshot->hidden, 1);
	CASE("the first comes back");
	set_processes(&f, 3, 0);
	refresh(&f, 130);
	refresh(&f, 240);
	refresh(&f, 255);
	CHECK_INT(state(&f, 3), ROW_FREE);
	claim_row(&f, 5, "a", 1);
	refresh(&f, 260);
	refresh(&f, 270);
	CHECK_TEXT(subject(&f, 5), "a");
	CHECK_UINT(f.services.snapshot->names_refused, 1);
	CASE("an hour later");
	refresh(&f, 3709);
	CHECK_TEXT(subject(&f, 4), "other");
	refresh(&f, 3711);
	CHECK_TEXT(subject(&f, 4), "b");
	CHECK_UINT(f.services.snapshot->names_refused, 1);
	fixture_done(&f);
}

/* Names of processes that ran before the plugin started are not new. */
static void test_names_at_start(void)
{
	struct fixture f;

	CASE("names at the start");
	fixture_init(&f);
	allow_names(&f, 1, 1);
	claim_row(&f, 3, "a", 1);
	claim_row(&f, 4, "b", 1);
	refresh(&f, 100);
	lifecycle_accept(&f.services.lifecycle);
	refresh(&f, 101);
	CHECK_TEXT(subject(&f, 3), "a");
	CHECK_TEXT(subject(&f, 4), "b");
	CHECK_UINT(f.services.snapshot->names_refused, 0);
	fixture_done(&f);
}

static void test_fixed(void)
{
	struct fixture f;

	CASE("fixed rows stay without processes");
	fixture_init(&f);
	refresh(&f, 100);
	refresh(&f, 100000);
	CHECK_TEXT(subject(&f, SERVICE_OTHER), "other");
	CHECK_TEXT(subject(&f, SERVICE_KERNEL), "kernel");
	CHECK_TEXT(subject(&f, CONFIGURED), "web");
	CHECK_UINT(f.services.lifecycle.shown, 3);
	CASE("beyond the rows");
	CHECK_INT(snapshot_subject(f.services.snapshot, ROWS), -1);
	CHECK_INT(snapshot_process_subject(f.services.snapshot, PROCESS_ROWS), -1);
	CHECK_INT(snapshot_process_subject(f.services.snapshot, 0), -1);
	fixture_done(&f);
}

int main(void)
{
	test_rows();
	test_age();
	test_active();
	test_short_life();
	test_exited();
	test_back();
	test_retired_with_processes();
	test_name_of_another_row();
	test_names();
	test_alike();
	test_new_names();
	test_names_at_start();
	test_fixed();
	return testing_end();
}
