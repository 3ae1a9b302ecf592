/* SPDX-License-Identifier: MIT */
/*
 * Which unassigned process gets a free row. The kernel's side is played: it lists the processes and
 * gets the assignments.
 */
#include "tests/unit/fake/blocks.h"

#include "plugin/service/unassigned.h"

#define SERVICE (SERVICE_FIRST + 1)

static struct unassigned_process unassigned[] = {
	{ .pid = 10, .since_ns = 500, .row = SERVICE_OTHER, .key.text = "newest" },
	{ .pid = 11, .since_ns = 300, .row = SERVICE_OTHER, .key.text = "second" },
	{ .pid = 12, .since_ns = 100, .row = SERVICE_OTHER, .key.text = "first" },
	{ .pid = 13, .since_ns = 400, .row = SERVICE_OTHER, .key.text = "first" },
	{ .pid = 14, .since_ns = 50, .row = SERVICE, .key.text = "x" },
	{ .pid = 15, .since_ns = 40, .row = SERVICE, .key.text = "x" },
	{ .pid = 16, .since_ns = 300, .row = SERVICE_OTHER, .key.text = "third" },
};

/* Units and containers, which have priority. */
static struct unassigned_process groups[] = {
	{ .pid = 10, .since_ns = 100, .row = SERVICE_OTHER, .key.text = "a" },
	{ .pid = 11, .since_ns = 500, .row = SERVICE_OTHER, .key = { GROUP_UNIT, "a" } },
	{ .pid = 12, .since_ns = 50, .row = SERVICE_OTHER, .key = { GROUP_USER, "user-0" } },
	{ .pid = 13, .since_ns = 400, .row = SERVICE_OTHER, .key = { GROUP_LXC, "a" } },
	{ .pid = 14, .since_ns = 600, .row = SERVICE_OTHER, .key = { GROUP_LXC, "a" } },
};

static unsigned next; /* a bit for each assigned process */

static void note(void)
{
	for (uint32_t pid = 10; pid < 10 + COUNT_OF(unassigned); pid++) {
		struct assignment assignment;

		if (!maps_get("assignments", &pid, &assignment))
			continue;
		next |= 1U << (pid - 10);
		CHECK_UINT(assignment.row, ASSIGNMENT_MATCH);
		CHECK_UINT(assignment.start_ns, 7 * pid);
	}
}

static unsigned bits(const char *pids)
{
	unsigned sum = 0;

	for (; *pids; pids++)
		sum |= 1U << (*pids - '0');
	return sum;
}

/* The last digits of the pids. */
static void test_order(void)
{
	static const struct {
		struct free_rows free_rows;
		const char *want;
		unsigned walks;
	} cases[] = {
		{ { 0, 0, 0 }, "", 1 },      { { 1, 0, 0 }, "23", 2 },
		{ { 2, 0, 0 }, "231", 2 },   { { 3, 0, 0 }, "2316", 2 },
		{ { 4, 0, 0 }, "23160", 2 }, { { 9, 9, 0 }, "2316045", 2 },
		{ { 0, 1, 0 }, "5", 2 },     { { 0, 2, 0 }, "54", 2 },
		{ { 1, 1, 0 }, "235", 2 },
	};

	for (size_t i = 0; i < COUNT_OF(unassigned); i++)
		unassigned[i].start_ns = 7 * unassigned[i].pid;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct fixture f;
		unsigned walks;

		CASE("%u and %u free rows", cases[i].free_rows.services,
		     cases[i].free_rows.processes);
		CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcess \"a\"\n</Service>"), 0);
		maps_iterate(unassigned, sizeof(unassigned));
		maps_on_walk = note;
		walks = maps_walks;
		next = 0;
		CHECK_INT(unassigned_give_rows(&f.services.object, &cases[i].free_rows, &error), 0);
		CHECK_UINT(next, bits(cases[i].want));
		CHECK_UINT(maps_walks, walks + cases[i].walks);
		CHECK_UINT(maps_count("assignments"), 0);
		fixture_done(&f);
	}
}

static void test_groups(void)
{
	static const struct {
		struct free_rows free_rows;
		const char *want;
	} cases[] = {
		{ { 0, 0, 0 }, "" },      { { 0, 0, 1 }, "34" },  { { 0, 0, 9 }, "341" },
		{ { 1, 0, 0 }, "34" },    { { 1, 0, 1 }, "341" }, { { 1, 0, 2 }, "3412" },
		{ { 2, 0, 2 }, "34120" },
	};

	for (size_t i = 0; i < COUNT_OF(groups); i++)
		groups[i].start_ns = 7 * groups[i].pid;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct fixture f;

		CASE("%u free rows, %u of units", cases[i].free_rows.services,
		     cases[i].free_rows.reserve);
		CHECK_INT(fixture_init(&f, ""), 0);
		maps_iterate(groups, sizeof(groups));
		maps_on_walk = note;
		next = 0;
		CHECK_INT(unassigned_give_rows(&f.services.object, &cases[i].free_rows, &error), 0);
		CHECK_UINT(next, bits(cases[i].want));
		fixture_done(&f);
	}
}

/* The kernel is asked only if there is something to assign. */
static void test_any(void)
{
	static const struct {
		long long unassigned, names, groups;
		struct free_rows free_rows;
		bool want;
	} cases[] = {
		{ 0, 0, 0, { 5, 5, 5 }, false }, { 1, 1, 0, { 0, 5, 5 }, false },
		{ 1, 1, 0, { 1, 0, 0 }, true },  { 2, 1, 0, { 0, 1, 0 }, true },
		{ 1, 0, 0, { 5, 0, 5 }, false }, { 1, 1, 1, { 0, 0, 1 }, true },
		{ 1, 1, 1, { 0, 5, 0 }, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct service_counters counters = { .unassigned = cases[i].unassigned,
						     .unassigned_names = cases[i].names,
						     .unassigned_groups = cases[i].groups };

		CASE("any, %zu", i);
		CHECK_INT(unassigned_any(&counters, &cases[i].free_rows), cases[i].want);
	}
}

int main(void)
{
	test_order();
	test_groups();
	test_any();
	return testing_end();
}
