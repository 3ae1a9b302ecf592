/* SPDX-License-Identifier: MIT */
/*
 * plugin/schema/buckets.c: histograms with buckets of other programs.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/string_list.h"

#include "plugin/schema/buckets.h"
#include "plugin/table/percentile.h"

#include <errno.h>
#include <math.h>

#define WORDS_MAX 6

static struct strings words_of(char *words[WORDS_MAX])
{
	size_t count = 0;

	while (count < WORDS_MAX && words[count])
		count++;
	return strings_of((const char *const *)words, count);
}

static struct buckets parsed(char *words[WORDS_MAX])
{
	struct strings list = words_of(words);
	struct buckets buckets = { .bound = NULL };
	struct error error = { "" };

	CHECK_INT(buckets_parse(&list, &buckets, &error), 0);
	CHECK_TEXT(error.text, "");
	return buckets;
}

static char exp2_[] = "exp2", exp2zero[] = "exp2zero", linear[] = "linear", fixed[] = "fixed",
	    n0[] = "0", n3[] = "3", n7[] = "0x7", n65[] = "65", n1000[] = "1000", minus[] = "-1",
	    half[] = "1.5", most[] = "18446744073709551615", moon[] = "moon";

static void test_bounds(void)
{
	static struct {
		char *words[WORDS_MAX];
		uint32_t count;
		double upper[3]; /* of the first, the second and the last bucket */
	} cases[] = {
		{ { exp2_, n0, n7 }, 8, { 1, 2, 128 } },
		{ { exp2_, n3, n7 }, 5, { 8, 16, 128 } },
		{ { exp2zero, n0, n7 }, 8, { 0, 1, 64 } },
		{ { linear, n0, n7 }, 8, { 0, 1, 7 } },
		{ { fixed, n3, n7, n1000 }, 3, { 3, 7, 1000 } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buckets buckets = parsed(cases[i].words);

		CASE("%s %s", cases[i].words[0], cases[i].words[1]);
		CHECK_INT(buckets.count, cases[i].count);
		CHECK_REAL(buckets_upper(&buckets, 0), cases[i].upper[0], 0);
		CHECK_REAL(buckets_upper(&buckets, 1), cases[i].upper[1], 0);
		CHECK_REAL(buckets_upper(&buckets, buckets.count - 1), cases[i].upper[2], 0);
		CHECK_REAL(buckets_lower(&buckets, 0), 0, 0);
		CHECK_REAL(buckets_lower(&buckets, 1), cases[i].upper[0], 0);
		buckets_done(&buckets);
	}
}

static void test_mistakes(void)
{
	static struct {
		char *words[WORDS_MAX];
		const char *want;
	} cases[] = {
		{ { moon, n0, n7 },
		  "unknown Histogram \"moon\" (exp2, exp2zero, linear or fixed)" },
		{ { exp2_, n0 }, "takes the numbers of the first and of the last" },
		{ { exp2_, n7, n3 }, "takes the numbers" },
		{ { exp2_, minus, n3 }, "takes the numbers" },
		{ { exp2_, n0, half }, "takes the numbers" },
		{ { exp2_, n3, n65 }, "is 64 at most" },
		{ { linear, n0, n1000 }, "at most 512 buckets" },
		{ { linear, most, most }, "leaves no number for the sum" },
		{ { fixed }, "takes 1 to 512 bounds" },
		{ { fixed, n7, n3 }, "\"3\" is not" },
		{ { fixed, n7, n7 }, "\"0x7\" is not" },
		{ { fixed, n7, most }, "is not" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct strings list = words_of(cases[i].words);
		struct buckets buckets = { .bound = NULL };
		struct error error = { "" };

		CASE("mistake %zu", i);
		CHECK_INT(buckets_parse(&list, &buckets, &error), -EINVAL);
		CHECK_HAS(error.text, cases[i].want);
		CHECK_INT(buckets.bound == NULL, 1);
	}
}

static void test_find(void)
{
	char *range[WORDS_MAX] = { linear, n3, n7 }, *list[WORDS_MAX] = { fixed, n3, n1000 };
	struct buckets steps = parsed(range), bounds = parsed(list);

	CASE("numbers of a range");
	CHECK_INT(buckets_find(&steps, 2), BUCKETS_NONE);
	CHECK_INT(buckets_find(&steps, 3), 0);
	CHECK_INT(buckets_find(&steps, 7), 4);
	CHECK_INT(buckets_find(&steps, 8), steps.count);
	CHECK_INT(buckets_find(&steps, 9), BUCKETS_NONE);
	CHECK_INT(buckets_find(&steps, UINT64_MAX), BUCKETS_NONE);
	CHECK_INT(buckets_find(&steps, (1ULL << 32) + 3), BUCKETS_NONE);
	CASE("bounds");
	CHECK_INT(buckets_find(&bounds, 3), 0);
	CHECK_INT(buckets_find(&bounds, 4), BUCKETS_NONE);
	CHECK_INT(buckets_find(&bounds, 1000), 1);
	CHECK_INT(buckets_find(&bounds, 1001), bounds.count);
	CHECK_INT(buckets_find(&bounds, 0), BUCKETS_NONE);
	buckets_done(&bounds);
}

static void test_statistics(void)
{
	char *words[WORDS_MAX] = { exp2_, n0, n3 };
	struct buckets buckets = parsed(words);
	/* Buckets up to 1, 2, 4 and 8, and the sum. */
	static const uint64_t none[5], some[5] = { 0, 10, 0, 30, 200 },
				       unsummed[5] = { 0, 4, 0, 4, 0 };

	CASE("nothing");
	CHECK_INT(isnan(buckets_mean(&buckets, none)), 1);
	CHECK_INT(isnan(buckets_percentile(&buckets, none, 50)), 1);
	CASE("by the sum");
	CHECK_REAL(buckets_mean(&buckets, some), 5, 1e-12);
	CASE("by the middles");
	CHECK_REAL(buckets_mean(&buckets, unsummed), (1.5 + 6) / 2, 1e-12);
	CASE("percentiles");
	CHECK_REAL(buckets_percentile(&buckets, some, 25), 2, 1e-12);
	CHECK_REAL(buckets_percentile(&buckets, some, 12.5), 1.5, 1e-12);
	CHECK_REAL(buckets_percentile(&buckets, some, 50), 4 + 4 * 10.0 / 30, 1e-12);
	CHECK_REAL(buckets_percentile(&buckets, some, 99.999999), 8, 1e-5);
}

int main(void)
{
	test_bounds();
	test_mistakes();
	test_find();
	test_statistics();
	return testing_end();
}
