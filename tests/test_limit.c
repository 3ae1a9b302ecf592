/* SPDX-License-Identifier: MIT */
/*
 * How often something is told.
 */
#include "testing.h"

#include "plugin/event/limit.h"

#define S NS_PER_S

static struct limit limit;

static void check_pass(uint64_t now_s, bool want, uint64_t want_held)
{
	uint64_t held = 0;

	CHECK_INT(limit_pass(&limit, now_s * S, &held), want);
	CHECK_UINT(held, want_held);
}

static void check_release(uint64_t now_s, bool want, uint64_t want_held)
{
	uint64_t held = 0;

	CHECK_INT(limit_release(&limit, now_s * S, &held), want);
	CHECK_UINT(held, want_held);
}

static void test_burst(void)
{
	CASE("a burst");
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	for (int i = 0; i < LIMIT_BURST; i++)
		check_pass(1000, true, 0);
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	check_release(1000, false, 0);
	CASE("what is over it");
	check_pass(1000, false, 0);
	check_pass(1030, false, 0);
	CHECK_UINT(limit_due(&limit), 1060 * S);
	check_release(1059, false, 0);
	CASE("a minute later the last of them, by itself");
	check_release(1060, true, 2);
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	check_release(1061, false, 0);
	CASE("another minute later a new one comes first");
	check_pass(1100, false, 0);
	check_pass(1121, true, 1);
	CASE("the time is not lost in which it came late");
	check_pass(1179, false, 0);
	check_pass(1180, true, 1);
}

static void test_recovery(void)
{
	CASE("after three quiet minutes there are three");
	for (int i = 0; i < 3; i++)
		check_pass(1360, true, 0);
	check_pass(1360, false, 0);
	CASE("after a quiet hour there is a whole burst and no more");
	check_pass(5000, true, 1);
	for (int i = 1; i < LIMIT_BURST; i++)
		check_pass(5000, true, 0);
	check_pass(5000, false, 0);
}

int main(void)
{
	test_burst();
	test_recovery();
	return testing_end();
}
