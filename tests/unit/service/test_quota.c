/* SPDX-License-Identifier: MIT */
/*
 * Quotas of users for the time that inspecting their processes needs: who has exceeded one, and who
 * is inspected last.
 */
#include "tests/unit/testing.h"

#include "plugin/service/quota.h"
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
		enum quota_pass next, later;
	} cases[] = {
		{ "short inspections", 1000, MS / 20, 100000, false, QUOTA_PASS_PROMPT,
		  QUOTA_PASS_PROMPT },
		{ "a few long ones", 1000, MS, 5, false, QUOTA_PASS_PROMPT, QUOTA_PASS_PROMPT },
		{ "many long ones", 1000, MS, 6, true, QUOTA_PASS_SLOW, QUOTA_PASS_PROMPT },
		{ "a slow one", 1000, 25 * MS, 1, true, QUOTA_PASS_SLOW, QUOTA_PASS_PROMPT },
		{ "root's", 0, 25 * MS, 9, false, QUOTA_PASS_ROOT, QUOTA_PASS_ROOT },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct quotas quotas = { 0 };

		CASE("%s", cases[i].name);
		quotas_start(&quotas, NS_PER_S);
		CHECK_INT(quotas_pass_of(&quotas, cases[i].uid),
			  cases[i].uid ? QUOTA_PASS_PROMPT : QUOTA_PASS_ROOT);
		for (unsigned n = 0; n < cases[i].inspections; n++)
			quotas_spend(&quotas, cases[i].uid, cases[i].cost_ns);
		CHECK_INT(quotas_are_used_up(&quotas, cases[i].uid), cases[i].is_exceeded);
		CHECK_INT(quotas_are_used_up(&quotas, 7), false);
		quotas_start(&quotas, 2 * NS_PER_S);
		CHECK_INT(quotas_are_used_up(&quotas, cases[i].uid), false);
		CHECK_INT(quotas_pass_of(&quotas, cases[i].uid), cases[i].next);
		CHECK_INT(quotas_pass_of(&quotas, 7), QUOTA_PASS_PROMPT);
		quotas_start(&quotas, 61 * NS_PER_S);
		CHECK_INT(quotas_pass_of(&quotas, cases[i].uid), cases[i].later);
	}
}

/* More users than entries: the one that was inspected longest ago is forgotten. */
static void test_many_users(void)
{
	struct quotas quotas = { 0 };

	CASE("many users");
	for (uint32_t uid = 1; uid <= QUOTA_USERS_MAX + 1; uid++) {
		quotas_start(&quotas, NS_PER_S + uid);
		quotas_spend(&quotas, uid, 25 * MS);
	}
	CHECK_INT(quotas_pass_of(&quotas, 1), QUOTA_PASS_PROMPT);
	for (uint32_t uid = 2; uid <= QUOTA_USERS_MAX + 1; uid++)
		CHECK_INT(quotas_pass_of(&quotas, uid), QUOTA_PASS_SLOW);
}

int main(void)
{
	test_costs();
	test_many_users();
	return testing_end();
}
