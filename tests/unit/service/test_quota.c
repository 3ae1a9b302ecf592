/* SPDX-License-Identifier: MIT */
/*
 * Quotas of users for the time that inspecting their processes needs: who has exceeded one, and who
 * is inspected last.
 */
#include "tests/unit/testing.h"

#include "plugin/service/turn.h"
#include "plugin/util/clock.h"

#define MS 1000000ULL

static void test_costs(void)
{
	static const struct {
		const char *name;
		uint32_t uid;
		uint64_t cost_ns;
		unsigned inspections;
		bool is_exceeded;
		enum turn next, later;
	} cases[] = {
		{ "short looks", 1000, MS / 20, 100000, false, TURN_PROMPT, TURN_PROMPT },
		{ "a few long ones", 1000, MS, 5, false, TURN_PROMPT, TURN_PROMPT },
		{ "many long ones", 1000, MS, 6, true, TURN_SLOW, TURN_PROMPT },
		{ "a slow one", 1000, 25 * MS, 1, true, TURN_SLOW, TURN_PROMPT },
		{ "root's", 0, 25 * MS, 9, false, TURN_ROOT, TURN_ROOT },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct turns quotas = { 0 };

		CASE("%s", cases[i].name);
		turns_begin(&quotas, NS_PER_S);
		CHECK_INT(turns_of(&quotas, cases[i].uid), cases[i].uid ? TURN_PROMPT : TURN_ROOT);
		for (unsigned n = 0; n < cases[i].inspections; n++)
			turns_spend(&quotas, cases[i].uid, cases[i].cost_ns);
		CHECK_INT(turns_over(&quotas, cases[i].uid), cases[i].is_exceeded);
		CHECK_INT(turns_over(&quotas, 7), false);
		turns_begin(&quotas, 2 * NS_PER_S);
		CHECK_INT(turns_over(&quotas, cases[i].uid), false);
		CHECK_INT(turns_of(&quotas, cases[i].uid), cases[i].next);
		CHECK_INT(turns_of(&quotas, 7), TURN_PROMPT);
		turns_begin(&quotas, 61 * NS_PER_S);
		CHECK_INT(turns_of(&quotas, cases[i].uid), cases[i].later);
	}
}

/* More users than entries: the one that was inspected longest ago is forgotten. */
static void test_many_users(void)
{
	struct turns quotas = { 0 };

	CASE("many users");
	for (uint32_t uid = 1; uid <= TURN_USERS_MAX + 1; uid++) {
		turns_begin(&quotas, NS_PER_S + uid);
		turns_spend(&quotas, uid, 25 * MS);
	}
	CHECK_INT(turns_of(&quotas, 1), TURN_PROMPT);
	for (uint32_t uid = 2; uid <= TURN_USERS_MAX + 1; uid++)
		CHECK_INT(turns_of(&quotas, uid), TURN_SLOW);
}

int main(void)
{
	test_costs();
	test_many_users();
	return testing_end();
}
