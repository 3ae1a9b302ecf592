/* SPDX-License-Identifier: MIT */
/*
 * The rate limit of notifications.
 */
#include "tests/unit/testing.h"

#include "plugin/event/limit.h"

#include <stdio.h>

#define S NS_PER_S

static struct limit limit;

static void check_of(const char *subject, uint64_t now_s, bool want, uint64_t want_suppressed)
{
	uint64_t suppressed = 0;
	char text[64];

	snprintf(text, sizeof(text), "%s at %u", subject, (unsigned)now_s);
	CHECK_INT(limit_pass(&limit, subject, text, now_s * S, &suppressed), want);
	CHECK_UINT(suppressed, want_suppressed);
}

static void check_pass(uint64_t now_s, bool want, uint64_t want_suppressed)
{
	check_of("web", now_s, want, want_suppressed);
}

/* want: the text of the notification, NULL: there is none. */
static void check_release(uint64_t now_s, const char *want, uint64_t want_suppressed)
{
	const struct limit_source *source = NULL;
	uint64_t suppressed = 0;

	CHECK_INT(limit_release(&limit, now_s * S, &source, &suppressed), want != NULL);
	CHECK_UINT(suppressed, want_suppressed);
	if (want && source)
		CHECK_TEXT(source->text, want);
}

static void test_burst(void)
{
	CASE("a burst");
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	for (int i = 0; i < LIMIT_BURST; i++)
		check_pass(1000, true, 0);
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	check_release(1000, NULL, 0);
	CASE("what is over it");
	check_pass(1000, false, 0);
	check_pass(1030, false, 0);
	CHECK_UINT(limit_due(&limit), 1060 * S);
	check_release(1059, NULL, 0);
	CASE("a minute later the last of them, by itself");
	check_release(1060, "web at 1030", 2);
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	check_release(1061, NULL, 0);
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

/* Many events of one service delay no event of others. */
static void test_fairness(void)
{
	limit_done(&limit);
	CASE("a loop of one");
	for (int i = 0; i < LIMIT_BURST; i++)
		check_of("loop", 1000, true, 0);
	for (int i = 0; i < 100; i++)
		check_of("loop", 1001, false, 0);
	CASE("events of other services are sent immediately");
	check_of("db", 1002, true, 0);
	check_of("mail", 1003, true, 0);
	CASE("and once a minute, each service with its own count");
	check_of("db", 1004, false, 0);
	check_of("db", 1005, false, 0);
	check_release(1059, NULL, 0);
	CHECK_UINT(limit_due(&limit), 1060 * S);
	check_release(1060, "loop at 1001", 100);
	check_release(1060, NULL, 0);
	for (int i = 0; i < 50; i++)
		check_of("loop", 1061, false, 0);
	CHECK_UINT(limit_due(&limit), 1062 * S);
	check_release(1062, "db at 1005", 2);
	CASE("the loop continues");
	for (uint64_t s = 1063; s < 1120; s++)
		check_of("loop", s, false, 0);
	check_of("loop", 1120, true, 50 + 57);
	check_of("db", 1121, false, 0);
	check_of("db", 1122, true, 1);
	CHECK_UINT(limit_due(&limit), UINT64_MAX);
	limit_done(&limit);
}

/* More subjects than entries: those without one share the last. */
static void test_many(void)
{
	char name[32];

	CASE("many subjects");
	for (int i = 0; i < LIMIT_SOURCES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		check_of(name, 1000, true, 0);
	}
	check_of("late", 1001, true, 0);
	check_of("later", 1002, false, 0);
	CHECK_UINT(limit.count, LIMIT_SOURCES_MAX);
	check_release(1061, "later at 1002", 1);
	CASE("those that are silent give their room");
	check_of("late", 1062, true, 0);
	check_of("latest", 1063, true, 0);
	CHECK_UINT(limit.count, LIMIT_SOURCES_MAX);
	limit_done(&limit);
}

int main(void)
{
	test_burst();
	test_recovery();
	test_fairness();
	test_many();
	return testing_end();
}
