/* SPDX-License-Identifier: MIT */
/*
 * Names of rows by their keys: which row gets a name, which one yields it, and how series continue
 * under it. The kernel's side is played.
 */
#include "tests/unit/fake/named_rows.h"

static void test_unnamed(void)
{
	struct group_key key;
	struct fixture f;
	uint32_t row = 0;

	CASE("no name yet");
	fixture_init(&f);
	claim_key(&f, 4, GROUP_UNIT, "nginx", 1);
	claim_row(&f, 3, "bash", 1);
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND, &row, &key), true);
	CHECK_UINT(row, 4);
	CHECK_TEXT(key.text, "nginx");
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "bash");
	CHECK_TEXT(subject(&f, 4), "other");
	CASE("named");
	give_name(&f, 4, "nginx", "nginx.service");
	row = 0;
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND, &row, &key), false);
	refresh(&f, 111);
	CHECK_TEXT(subject(&f, 4), "nginx");
	fixture_done(&f);
}

/* A name whose files time out is found in a later round. */
static void test_unsettled(void)
{
	struct row_name name = { .name = "0123", .round = ROUND };
	struct group_key key;
	struct fixture f;
	uint32_t row = 0;

	CASE("the files time out");
	fixture_init(&f);
	claim_key(&f, 4, GROUP_DOCKER, ID_A, 1);
	name.key = key_of_row(&f, 4);
	row_name_set(&f.services.lifecycle, 4, &name);
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND, &row, &key), false);
	CHECK_INT(row_name_is_known(&f.services.lifecycle, 4), false);
	CASE("the next round");
	row = 0;
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND + 1, &row, &key), true);
	CHECK_UINT(row, 4);
	name.is_settled = true;
	row_name_set(&f.services.lifecycle, 4, &name);
	CHECK_INT(row_name_is_known(&f.services.lifecycle, 4), true);
	CASE("the row is another's");
	claim_key(&f, 4, GROUP_DOCKER, ID_B, 1);
	CHECK_INT(row_name_is_known(&f.services.lifecycle, 4), false);
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND, &row, &key), true);
	fixture_done(&f);
}

static void test_nameless(void)
{
	struct row_name name = {
		.name = "pause", .round = ROUND, .is_settled = true, .is_nameless = true
	};
	struct group_key key;
	struct fixture f;
	uint32_t row = 0;

	CASE("no series");
	fixture_init(&f);
	claim_key(&f, 4, GROUP_DOCKER, ID_A, 1);
	name.key = key_of_row(&f, 4);
	row_name_set(&f.services.lifecycle, 4, &name);
	refresh(&f, 100);
	refresh(&f, 120);
	CHECK_TEXT(subject(&f, 4), "other");
	CHECK_INT(row_name_wanted(&f.services.lifecycle, ROUND, &row, &key), false);
	fixture_done(&f);
}

/* A container with another id and the same name. */
static void test_made_again(void)
{
	uint64_t generation;
	struct fixture f;

	CASE("made again");
	fixture_init(&f);
	allow_names(&f, 1, 1);
	claim_container(&f, 3, ID_A, "web-1");
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "web-1");
	generation = generation_of(&f, 3);
	end(&f, 3);
	claim_container(&f, 4, ID_B, "web-1");
	refresh(&f, 112);
	CHECK_TEXT(subject(&f, 4), "web-1");
	CHECK_UINT(generation_of(&f, 4), generation);
	CASE("made again, the old row is another key's");
	refresh(&f, 120);
	refresh(&f, 300);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	CHECK_UINT(generation_of(&f, 4), generation);
	CHECK_UINT(f.services.snapshot->names_refused, 0);
	fixture_done(&f);
}

static void test_two_living(void)
{
	struct fixture f;

	CASE("two of one name");
	fixture_init(&f);
	claim_container(&f, 3, ID_A, "web-1");
	refresh(&f, 100);
	refresh(&f, 110);
	claim_container(&f, 4, ID_B, "web-1");
	refresh(&f, 120);
	refresh(&f, 130);
	CHECK_TEXT(subject(&f, 3), "web-1");
	CHECK_TEXT(subject(&f, 4), "web-1-bbbbbbbbbbbb");
	fixture_done(&f);
}

/* The row that had the name first keeps it. */
static void test_ranks(void)
{
	static const uint32_t orders[][3] = { { 3, 4, 5 }, { 5, 4, 3 }, { 4, 5, 3 }, { 4, 3, 5 } };

	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		struct fixture f;

		CASE("a unit, a container and a command of one name, order %zu", i);
		fixture_init(&f);
		for (size_t n = 0; n < 3; n++) {
			if (orders[i][n] == 3)
				claim_unit(&f, 3, "nginx");
			else if (orders[i][n] == 4)
				claim_container(&f, 4, ID_A, "nginx");
			else
				claim_row(&f, 5, "nginx", 1);
			refresh(&f, 100 + 20 * (double)n);
			refresh(&f, 110 + 20 * (double)n);
		}
		CHECK_TEXT(subject(&f, 3), "nginx");
		CHECK_TEXT(subject(&f, 4), "nginx+6f885c30");
		CHECK_TEXT(subject(&f, 5), "nginx+6f885c31");
		fixture_done(&f);
	}
}

/* A command has the name that a container gets when a unit comes. */
static void test_chosen(void)
{
	struct fixture f;

	CASE("a chosen name");
	fixture_init(&f);
	claim_container(&f, 4, ID_A, "db");
	claim_row(&f, 5, "db+b53ba1e4", 1);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 4), "db");
	CHECK_TEXT(subject(&f, 5), "db+b53ba1e4");
	claim_unit(&f, 3, "db");
	refresh(&f, 120);
	refresh(&f, 130);
	CHECK_TEXT(subject(&f, 3), "db");
	CHECK_TEXT(subject(&f, 4), "db+b53ba1e4");
	CHECK_TEXT(subject(&f, 5), "db+b53ba1e4+0b316084");
	fixture_done(&f);
}

static void test_reserved(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "web", "web+48721ef2" },
		{ "kernel", "kernel+f7c3fb19" },
		{ "self", "self+d40792b8" },
		{ "other", "other+c2562a56" },
		{ "a/b", "a_b" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("a unit called %s", cases[i].name);
		fixture_init(&f);
		claim_unit(&f, 3, cases[i].name);
		refresh(&f, 100);
		refresh(&f, 110);
		CHECK_TEXT(subject(&f, 3), cases[i].want);
		fixture_done(&f);
		CASE("a container called %s", cases[i].name);
		fixture_init(&f);
		claim_container(&f, 4, ID_A, cases[i].name);
		refresh(&f, 100);
		refresh(&f, 110);
		CHECK_TEXT(subject(&f, 4), cases[i].want);
		fixture_done(&f);
	}
}

static void test_claimed_by_both(void)
{
	struct fixture f;

	CASE("a unit and a container, both called as a Service block");
	fixture_init(&f);
	claim_unit(&f, 3, "web");
	claim_container(&f, 4, ID_A, "web");
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "web+48721ef2");
	CHECK_TEXT(subject(&f, 4), "web+48721ef3");
	fixture_done(&f);
}

/* New names of commands and users leave room for those of units and containers. */
static void test_allowances(void)
{
	static const struct {
		double names, group_names;
		bool unit, command, user;
	} cases[] = {
		{ 0, 0, false, false, false }, { 1, 0, true, false, false },
		{ 0, 1, true, false, false },  { 0, 2, true, false, false },
		{ 1, 1, true, true, false },   { 2, 1, true, true, true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("%g new names, %g of units", cases[i].names, cases[i].group_names);
		fixture_init(&f);
		allow_names(&f, 2, cases[i].names);
		allow_group_names(&f, 2, cases[i].group_names);
		claim_unit(&f, 3, "nginx");
		claim_row(&f, 4, "bash", 1);
		claim_key(&f, 5, GROUP_USER, "user-1000", 1);
		give_name(&f, 5, "user-alice", "user-1000");
		refresh(&f, 0.001);
		refresh(&f, 10);
		CHECK_TEXT(subject(&f, 3), cases[i].unit ? "nginx" : "other");
		CHECK_TEXT(subject(&f, 4), cases[i].command ? "bash" : "other");
		CHECK_TEXT(subject(&f, 5), cases[i].user ? "user-alice" : "other");
		CHECK_TEXT(subject(&f, CONFIGURED), "web");
		CHECK_INT(f.services.snapshot->states[3].user_controlled, false);
		CHECK_INT(f.services.snapshot->states[4].user_controlled, true);
		CHECK_INT(f.services.snapshot->states[5].user_controlled, true);
		fixture_done(&f);
	}
}

/* Containers of users leave half of the new names to others. */
static void test_allowance_of_user_containers(void)
{
	static const struct {
		double left;
		unsigned most;
		bool container, command;
	} cases[] = {
		{ 4, 4, true, true },  { 3, 4, true, true },   { 2, 4, false, true },
		{ 1, 4, false, true }, { 0, 4, false, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("%g of %u new names", cases[i].left, cases[i].most);
		fixture_init(&f);
		allow_names(&f, cases[i].most, cases[i].left);
		claim_key(&f, 3, GROUP_USER_CONTAINER, "user-1000", 1);
		give_name(&f, 3, "user-alice:web", "user-alice:web-0123");
		claim_row(&f, 4, "bash", 1);
		refresh(&f, 0.001);
		refresh(&f, 10);
		CHECK_TEXT(subject(&f, 3), cases[i].container ? "user-alice:web" : "other");
		CHECK_TEXT(subject(&f, 4), cases[i].command ? "bash" : "other");
		CHECK_INT(f.services.snapshot->states[3].user_controlled, true);
		fixture_done(&f);
	}
}

/* A user's container that is created again, with another id, continues its series at once. */
static void test_user_container_again(void)
{
	struct fixture f;

	CASE("a user's container that is created again");
	fixture_init(&f);
	allow_names(&f, 2, 2);
	claim_key(&f, 3, GROUP_USER_CONTAINER, "user-1000", 1);
	give_name(&f, 3, "user-alice:web", "user-alice:web-0123");
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "user-alice:web");
	end(&f, 3);
	claim_key(&f, 4, GROUP_USER_CONTAINER, "user-1000", 1);
	give_name(&f, 4, "user-alice:web", "user-alice:web-4567");
	refresh(&f, 111);
	CHECK_TEXT(subject(&f, 4), "user-alice:web");
	fixture_done(&f);
}

/* One that is not confirmed any more counts for its user. */
static void test_unconfirmed(void)
{
	struct fixture f;

	CASE("a container that shares the series of its user");
	fixture_init(&f);
	allow_names(&f, 4, 4);
	claim_key(&f, 3, GROUP_USER, "user-1000", 1);
	give_name(&f, 3, "user-alice", "user-1000");
	claim_key(&f, 4, GROUP_USER_CONTAINER, "user-1000", 1);
	give_name(&f, 4, "user-alice", "user-alice");
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "user-alice");
	CHECK_TEXT(subject(&f, 4), "user-alice");
	fixture_done(&f);
}

/* A row returns to the queue that it came from. */
static void test_reserve(void)
{
	struct fixture f;
	uint32_t row = 0;

	CASE("reserve");
	fixture_init(&f);
	reserve_rows(&f, 5);
	claim_unit(&f, 4, "a");
	claim_unit(&f, 5, "b");
	end(&f, 4);
	end(&f, 5);
	refresh(&f, 100);
	CHECK_UINT(f.services.lifecycle.free_rows.services, 1);
	CHECK_UINT(f.services.lifecycle.free_rows.reserve, 0);
	refresh(&f, 110);
	refresh(&f, 120);
	CHECK_UINT(maps_count("service_free"), 1);
	CHECK_INT(maps_pop("service_reserve", &row), true);
	CHECK_UINT(row, 5);
	CHECK_UINT(f.services.lifecycle.free_rows.reserve, 1);
	fixture_done(&f);
}

/* A container that belongs to a Service block by its name: its counts from before the name was
 * known are the block's. */
static void test_of_a_block(void)
{
	struct row_name name = {
		.name = "web-1", .is_settled = true, .is_nameless = true, .service = CONFIGURED
	};
	uint64_t generation;
	struct fixture f;
	int subscriber;

	CASE("of a block");
	fixture_init(&f);
	allow_names(&f, 1, 0);
	name_groups_of(&f, SERVICES_FROM_CONTAINERS);
	generation = generation_of(&f, CONFIGURED);
	claim_key(&f, 3, GROUP_DOCKER, ID_A, 0);
	refresh(&f, 90);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 3), true);
	name.key = key_of_row(&f, 3);
	row_name_set(&f.services.lifecycle, 3, &name);
	subscriber = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	refresh(&f, 100);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 3), false);
	CHECK_TEXT(subject(&f, 3), "web");
	CHECK_UINT(f.services.snapshot->names_refused, 0);
	CASE("of a block, a table has not been read since that is known");
	read_at(&f, subscriber, 99);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "web");
	CASE("of a block, the processes are in its row now");
	read_at(&f, subscriber, 111);
	refresh(&f, 120);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	refresh(&f, 140);
	CHECK_INT(state(&f, 3), ROW_FREE);
	refresh(&f, 400);
	CHECK_UINT(generation_of(&f, CONFIGURED), generation);
	CASE("the row is another container's");
	claim_key(&f, 3, GROUP_DOCKER, ID_B, 1);
	refresh(&f, 500);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 3), true);
	refresh(&f, 520);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 3), true);
	CASE("all files time out");
	refresh(&f, 530);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 3), false);
	CHECK_TEXT(subject(&f, 3), "other");
	CASE("a unit, which no block is named after");
	claim_key(&f, 4, GROUP_UNIT, "cron", 1);
	refresh(&f, 540);
	CHECK_INT(snapshot_is_undecided(f.services.snapshot, 4), false);
	fixture_done(&f);
}

/* --- renamed --- */

int main(void)
{
	test_unnamed();
	test_unsettled();
	test_nameless();
	test_made_again();
	test_two_living();
	test_ranks();
	test_chosen();
	test_reserved();
	test_claimed_by_both();
	test_allowances();
	test_allowance_of_user_containers();
	test_user_container_again();
	test_unconfirmed();
	test_reserve();
	test_of_a_block();
	return testing_end();
}
