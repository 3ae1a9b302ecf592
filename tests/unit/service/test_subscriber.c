/* SPDX-License-Identifier: MIT */
/*
 * Which probes a retired row waits for, and how long.
 */
#include "tests/unit/fake/services.h"

static void test_subscribers(void)
{
	struct fixture f;
	int first, second;

	CASE("subscribers");
	fixture_init(&f);
	first = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	second = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	CHECK_INT(first == second, 0);
	subscribers_remove(&f.services.lifecycle.subscribers, first);
	CHECK_INT(subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL),
		  first);
	subscribers_remove(&f.services.lifecycle.subscribers, -1);
	CASE("a subscriber that has left is not waited for");
	claim_row(&f, 3, "true", 0);
	refresh(&f, 100);
	refresh(&f, 110);
	read_at(&f, first, 115);
	refresh(&f, 120);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	subscribers_remove(&f.services.lifecycle.subscribers, second);
	refresh(&f, 121);
	CHECK_INT(state(&f, 3), ROW_FREE);
	fixture_done(&f);
}

static bool count_call(void *of)
{
	(*(unsigned *)of)++;
	return true;
}

/* One probe reads twice a day and another cannot: rows are reused nevertheless. */
static void test_late_subscriber(void)
{
	unsigned calls = 0;
	struct fixture f;
	int fast;

	CASE("late");
	fixture_init(&f);
	fast = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, count_call, &calls);
	subscribers_add(&f.services.lifecycle.subscribers, 43200, count_call, &calls);
	claim_row(&f, 3, "true", 0);
	refresh(&f, 100);
	refresh(&f, 110);
	read_at(&f, fast, 115);
	refresh(&f, 122.5);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	CHECK_UINT(calls, 0);
	refresh(&f, 122.6);
	CHECK_INT(state(&f, 3), ROW_FREE);
	CHECK_UINT(calls, 1);
	CHECK_UINT(maps_count("service_free"), 1);
	CASE("late, two rows");
	claim_row(&f, 3, "a", 0);
	claim_row(&f, 4, "b", 0);
	refresh(&f, 130);
	refresh(&f, 140);
	read_at(&f, fast, 145);
	refresh(&f, 153);
	CHECK_INT(state(&f, 3), ROW_FREE);
	CHECK_INT(state(&f, 4), ROW_FREE);
	CHECK_UINT(calls, 2);
	fixture_done(&f);
}

/* Subjects wait for a late subscriber, up to a limit. */
static void test_departed(void)
{
	struct fixture f;
	size_t web;

	CASE("departed");
	fixture_init(&f);
	subscribers_add(&f.services.lifecycle.subscribers, 43200, NULL, NULL);
	live_until_120(&f, 3, "bash");
	web = (size_t)snapshot_subject(f.services.snapshot, 3);
	refresh(&f, 230);
	refresh(&f, 250);
	CHECK_INT(state(&f, 3), ROW_FREE);
	CHECK_INT(f.services.lifecycle.subjects.subject[web].used, true);
	for (uint32_t i = 0; i < ROWS + PROCESS_ROWS; i++) {
		char name[SERVICE_NAME_LEN];

		CASE("departed, %u after it", i);
		CHECK_INT(f.services.lifecycle.subjects.subject[web].used, true);
		snprintf(name, sizeof(name), "n%u", i);
		claim_row(&f, 3, name, 1);
		refresh(&f, 1000 * (i + 1));
		refresh(&f, 1000 * (i + 1) + 10);
		set_processes(&f, 3, 0);
		refresh(&f, 1000 * (i + 1) + 20);
		refresh(&f, 1000 * (i + 1) + 200);
		refresh(&f, 1000 * (i + 1) + 300);
		CHECK_INT(state(&f, 3), ROW_FREE);
	}
	CHECK_INT(f.services.lifecycle.subjects.subject[web].used, false);
	CHECK_UINT(f.services.lifecycle.departed_count, ROWS + PROCESS_ROWS);
	fixture_done(&f);
}

int main(void)
{
	test_subscribers();
	test_late_subscriber();
	test_departed();
	return testing_end();
}
