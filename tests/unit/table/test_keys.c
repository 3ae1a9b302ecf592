/* SPDX-License-Identifier: MIT */
/*
 * Rows with keys: which series get their growth while keys appear and vanish, and which names have
 * series.
 */
#include "tests/unit/fake/keys.h"

static void test_growth(void)
{
	struct fixture f;

	CASE("nothing counted, nothing shown");
	fixture_init(&f, false, 8);
	set(0, 1, 0);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "");
	CASE("first growth");
	set(0, 1, 5);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=5");
	CASE("keys of one name add up");
	set(7, 1, 10);
	set(0, 99, 1);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=15 probe/signal_99=1");
	CASE("a key that came back between two readings");
	set(7, 1, 3);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=18 probe/signal_99=1");
	CASE("removed keys");
	map_count = 0;
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=18 probe/signal_99=1");
	CASE("and come back");
	set(0, 1, 2);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=20 probe/signal_99=1");
	CASE("removed for long");
	for (int i = 0; i < 20; i++)
		read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=20");
	CHECK_UINT(f.table.keys.entry_count, 1);
	fixture_done(&f);
}

/* Disks have series however many loop and RAM devices there are. */
static void test_virtual_disks(void)
{
	const uint32_t major = 1 << 20;
	struct labels labels = labels_none(sizeof(struct key), NO_LABEL);
	struct fixture f;

	CASE("hundreds of loop devices");
	fixture_init(&f, false, 2);
	labels_add(&labels, label_of("device", 4, 4));
	row_table_labels(&f.table, &labels);
	for (uint32_t minor = 0; minor < 4; minor++)
		set(0, 7 * major + minor, 1000);
	set(0, major, 10);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/7:0=1000 probe/7:1=1000 probe/other=2010");
	CASE("and two disks");
	set(0, 8 * major, 1);
	set(0, 8 * major + 16, 2);
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "probe/8:0=1 probe/8:16=2");
	CHECK_UINT(f.table.keys.shown, 4);
	CASE("disks compete with each other");
	set(0, 8 * major + 32, 3);
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "probe/other=2013");
	fixture_done(&f);
}

static void test_virtual_names(void)
{
	static const struct {
		const char *name;
		bool want;
	} cases[] = {
		{ "loop0", true },    { "loop299", true }, { "zram0", true },
		{ "ram15", true },    { "loop", false },   { "sda", false },
		{ "rampart", false }, { "dm-0", false },   { "", false },
	};
	const struct label label = text_label("device", 0, 32);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unsigned char key[32] = { 0 };

		CASE("%s", cases[i].name);
		memcpy(key, cases[i].name, strlen(cases[i].name));
		CHECK_INT(label_is_virtual_disk(&label, key), cases[i].want);
	}
}

/* A name that Label excludes has no series, uses no quota, and does not count as other. */
static void test_choice(void)
{
	const struct strings numbers = STRINGS("SIGHUP", "SIGT*"), services = STRINGS("w?b");
	struct fixture f;

	CASE("by the number");
	fixture_init(&f, true, 2);
	row_table_choose(&f.table, 1, &numbers);
	for (uint32_t signal = 1; signal <= 15; signal++)
		set(SERVICE_FIRST, signal, signal);
	set(SERVICE_FIRST + 1, 2, 7);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=1 web/SIGTRAP=5 web/other=15");
	CHECK_REAL(f.table.keys.other_percent, 100.0 * 15 / 21, 1e-9);
	CASE("and again");
	set(SERVICE_FIRST, 2, 100);
	set(SERVICE_FIRST, 1, 3);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=3 web/SIGTRAP=5 web/other=15");
	fixture_done(&f);

	CASE("by the service");
	fixture_init(&f, true, 8);
	row_table_choose(&f.table, 0, &services);
	set(SERVICE_FIRST, 1, 3);
	set(SERVICE_FIRST + 1, 1, 4);
	set(SERVICE_OTHER, 1, 5);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=3");
	CASE("its row is another service's");
	show_service(&f, SERVICE_FIRST + 1, "wub");
	set(SERVICE_FIRST + 1, 1, 9);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=3 wub/SIGHUP=5");
	CASE("that counts under other, or is none");
	set(99, 1, 4);
	set_state(&f.services, SERVICE_FIRST, ROW_HIDDEN);
	set(SERVICE_FIRST, 1, 10);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=3 wub/SIGHUP=5");
	fixture_done(&f);
}

/* The counts of a row that turns out to be of no block are other's, if other is collected. */
static void test_unwatched(void)
{
	for (int unwatched = 0; unwatched <= 1; unwatched++) {
		struct fixture f;

		CASE("other is %s", unwatched ? "not collected" : "collected");
		fixture_init(&f, true, 8);
		set_other_unwatched(&f.services, unwatched);
		f.table.asks_for_other = true;
		set_state(&f.services, SERVICE_FIRST + 1, ROW_HIDDEN);
		set(SERVICE_FIRST, 1, 3);
		set(SERVICE_FIRST + 1, 1, 4);
		read_after(&f, 1);
		CHECK_TEXT(dispatched(&f),
			   unwatched ? "web/SIGHUP=3" : "web/SIGHUP=3 other/SIGHUP=4");
		fixture_done(&f);
	}
}

/* Counts from before the start of the probe are ignored. */
static void test_start(void)
{
	struct error error = { "" };
	struct fixture f;

	CASE("before the start");
	fixture_init(&f, false, 8);
	row_table_shown(&f.table, 8);
	set(0, 1, 1000);
	CHECK_INT(keys_start(&f.table, &error), 0);
	set(0, 1, 1003);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=3");
	fixture_done(&f);
}

static void test_services(void)
{
	struct fixture f;

	CASE("services");
	fixture_init(&f, true, 8);
	set(SERVICE_FIRST, 15, 4);
	set(SERVICE_FIRST + 1, 15, 6);
	set(77, 15, 100); /* no service */
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGTERM=4 db/SIGTERM=6");
	CASE("a service that has retired counts under other");
	set_state(&f.services, SERVICE_FIRST, ROW_RETIRED);
	set(SERVICE_FIRST, 15, 5);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGTERM=4 db/SIGTERM=6 other/SIGTERM=1");
	CASE("its row is another's");
	show_service(&f, SERVICE_FIRST, "mail");
	set(SERVICE_FIRST, 15, 8);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGTERM=4 db/SIGTERM=6 other/SIGTERM=1 mail/SIGTERM=3");
	CASE("a reading was missed, and rows went to others");
	table_miss(&f.table);
	set(SERVICE_FIRST, 15, 50);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGTERM=4 db/SIGTERM=6 other/SIGTERM=1 mail/SIGTERM=3");
	fixture_done(&f);
}

/* A row with an empty text has the counts of keys that found no room in the map. */
static void test_other(void)
{
	struct labels labels;
	struct fixture f;

	CASE("a row for the rest");
	fixture_init(&f, true, 2);
	labels = labels_none(sizeof(struct key), 0);
	labels_add(&labels, label_of("service", 0, 4));
	labels_add(&labels, text_label("string", 4, 4));
	row_table_labels(&f.table, &labels);
	set(SERVICE_FIRST, 'a', 5);
	set(SERVICE_FIRST, 0, 7);
	set(SERVICE_FIRST + 1, 0, 3);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/a=5 web/other=7 db/other=3");
	CHECK_UINT(f.table.keys.shown, 1);
	CHECK_REAL(f.table.keys.other_percent, 100.0 * 10 / 15, 1e-9);
	CASE("with names that have no series");
	set(SERVICE_FIRST, 'b', 1);
	set(SERVICE_FIRST, 'c', 2);
	set(SERVICE_FIRST, 0, 8);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/a=5 web/other=10 db/other=3 web/b=1");
	fixture_done(&f);
}

/* Two names have series; another one must count twice as much for some time to replace one. */
static void test_top(void)
{
	struct fixture f;

	CASE("room for two");
	fixture_init(&f, true, 2);
	set(SERVICE_FIRST, 1, 1000);
	set(SERVICE_FIRST, 2, 10);
	set(SERVICE_FIRST, 3, 15);
	set(SERVICE_FIRST + 1, 4, 1);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=1000 web/SIGINT=10 web/other=15 db/other=1");
	CHECK_UINT(f.table.keys.shown, 2);
	CHECK_UINT(f.table.keys.other, 2);
	CHECK_REAL(f.table.keys.other_percent, 100.0 * 16 / 1026, 1e-9);
	CASE("not twice as much");
	for (uint64_t i = 2; i < 30; i++) {
		set(SERVICE_FIRST, 1, 1000 * i);
		set(SERVICE_FIRST, 2, 10 * i);
		set(SERVICE_FIRST, 3, 15 * i);
		read_after(&f, HOUR);
	}
	CHECK_TEXT(dispatched(&f), "web/SIGHUP=29000 web/SIGINT=290 web/other=435 db/other=1");
	CASE("twice as much");
	for (uint64_t i = 1; i < 30; i++) {
		set(SERVICE_FIRST, 2, 290 + 10 * i);
		set(SERVICE_FIRST, 3, 435 + 30 * i);
		read_after(&f, HOUR);
	}
	CHECK_HAS(dispatched(&f), "web/SIGQUIT=");
	CHECK_UINT(f.table.keys.shown, 2);
	CASE("a name continues its series");
	for (uint64_t i = 1; i < 30; i++) {
		set(SERVICE_FIRST, 2, 580 + 1000 * i);
		read_after(&f, HOUR);
	}
	CHECK_HAS(dispatched(&f), "web/SIGINT=");
	CHECK_INT(strstr(dispatched(&f), "web/SIGINT=1000 ") == NULL, 1);
	CASE("nothing is lost or counted twice");
	{
		uint64_t sum = 0;

		for (size_t i = 0; i < f.table.accumulators.count; i++)
			if (has_cells(&f.table, i))
				sum += total(&f.table, i, 0);
		CHECK_UINT(sum, 29000 + 580 + 29000 + 435 + 870 + 1);
	}
	fixture_done(&f);
}

/* New names per hour: as many at once as may have series, and as many in each further hour. */
static void test_new_series(void)
{
	struct fixture f;
	uint32_t number = 0;

	CASE("new names");
	fixture_init(&f, false, 4);
	for (int i = 0; i < 40; i++) {
		map_count = 0;
		set(0, 100 + number++, 1);
		read_after(&f, 1);
	}
	CHECK_UINT(f.table.keys.generation,
		   41); /* 4 with series, 36 without, and the one that these count in */
	for (size_t i = 0; i < f.table.keys.name_count; i++)
		CHECK_INT(f.table.keys.name[i].generation > 4 && f.table.keys.name[i].was_shown, 0);
	CASE("an hour later");
	map_count = 0;
	set(0, 900, 1);
	read_after(&f, HOUR);
	read_after(&f, 1);
	set(0, 900, 2);
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "probe/signal_900=");
	fixture_done(&f);
}

/* A new name within the hour's limit, while all series are in use. */
static void test_full(void)
{
	struct fixture f;

	CASE("all series are in use");
	fixture_init(&f, false, 2);
	set(0, 1, 1);
	set(0, 2, 1);
	read_after(&f, 1);
	read_after(&f, HOUR);
	set(0, 3, 1);
	read_after(&f, 1);
	CHECK_UINT(f.table.keys.shown, 2);
	CHECK_TEXT(dispatched(&f), "probe/SIGHUP=1 probe/SIGINT=1 probe/other=1");
	fixture_done(&f);
}

/* As many keys as the map has entries, each time others. */
static void test_churn(void)
{
	struct fixture f;

	CASE("churn");
	fixture_init(&f, false, 4);
	for (uint32_t i = 0; i < 50; i++) {
		map_count = 0;
		for (uint32_t k = 0; k < KEYS; k++)
			set(0, 100 + i * KEYS + k, 1);
		read_after(&f, 1);
		CHECK_INT(f.table.keys.entry_count <= f.table.keys.entry_max, 1);
		CHECK_INT(f.table.keys.name_count <= f.table.keys.name_max, 1);
		CHECK_INT(f.table.keys.shown <= 4, 1);
	}
	fixture_done(&f);
}

/* Argument values have series within the limit of their function. */
static void test_functions(void)
{
	static const struct function_config functions[] = { { .name = "one" },
							    { .name = "two" },
							    { .name = "three" } };
	struct labels labels = labels_none(sizeof(struct key), NO_LABEL);
	struct error error = { "" };
	struct fixture f;

	CASE("functions");
	fixture_init(&f, false, 2);
	row_table_shown(&f.table, 2);
	labels_add(&labels, label_of_kind(label_kind_function(), 0, 4));
	labels_add(&labels, text_label("argument", 4, 4));
	CHECK_INT(labels_name_functions(&labels, functions, 3), 0);
	row_table_labels(&f.table, &labels);
	CHECK_INT(keys_start(&f.table, &error), 0);
	for (const char *text = "abcdefgh"; *text; text++)
		set(0, (uint32_t)*text, 1);
	set(1, 0, 5);
	set(2, 'x', 7);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f),
		   "probe/one-a=1 probe/one-b=1 probe/one-other=6 probe/two=5 probe/three-x=7");
	CHECK_INT(keys_trouble(&f.table, &error), true);
	CHECK_HAS(error.text, "calls of Function \"one\"");
	CASE("one that counts more, of a function that is full");
	for (int i = 0; i < 12; i++) {
		set(0, 'h', 2 + 10 * (uint64_t)i);
		set(2, 'x', 7 + (uint64_t)i);
		read_after(&f, HOUR);
	}
	CHECK_HAS(dispatched(&f), "probe/one-h=");
	CHECK_HAS(dispatched(&f), "probe/two=5 probe/three-x=18");
	CASE("a new value of another function, while one is full");
	set(2, 'y', 1);
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "probe/three-y=1");
	CASE("a function without keys for long");
	map_count = 0;
	for (int i = 0; i < 12; i++)
		read_after(&f, 1);
	set(1, 0, 6);
	read_after(&f, 1);
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "probe/two=");
	fixture_done(&f);
}

int main(void)
{
	test_growth();
	test_start();
	test_virtual_disks();
	test_virtual_names();
	test_choice();
	test_unwatched();
	test_services();
	test_other();
	test_top();
	test_new_series();
	test_full();
	test_churn();
	test_functions();
	return testing_end();
}
