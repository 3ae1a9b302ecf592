/* SPDX-License-Identifier: MIT */
/*
 * New names per hour, by a clock that the test sets.
 */
#include "tests/unit/testing.h"

#include "plugin/util/allowance.h"
#include "plugin/util/clock.h"

#define HOUR (3600 * NS_PER_S)

static unsigned use_all(struct allowance *allowance)
{
	unsigned used = 0;

	while (allowance_use(allowance))
		used++;
	return used;
}

int main(void)
{
	static const struct {
		uint64_t after_ns;
		unsigned want;
	} cases[] = {
		{ 0, 10 },       { 1, 0 },     { HOUR / 20, 0 },   { HOUR / 20, 1 },
		{ HOUR / 2, 5 }, { HOUR, 10 }, { 100 * HOUR, 10 },
	};
	struct allowance allowance;
	uint64_t now_ns = 77;
	unsigned all = 0;

	allowance_init(&allowance, 10);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%g h later", (double)cases[i].after_ns / (double)HOUR);
		now_ns += cases[i].after_ns;
		allowance_fill(&allowance, now_ns);
		CHECK_UINT(use_all(&allowance), cases[i].want);
	}
	CASE("a day, by seconds");
	for (unsigned s = 0; s < 86400; s++) {
		now_ns += NS_PER_S;
		allowance_fill(&allowance, now_ns);
		all += use_all(&allowance);
	}
	CHECK_UINT(all >= 239 && all <= 240, 1);
	return testing_end();
}
