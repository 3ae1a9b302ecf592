/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers in the range of int64_t and uint64_t.
 */
#include "tests/unit/testing.h"

#include "plugin/util/number.h"

static void test_parse(void)
{
	static const struct {
		const char *text, *want, *end; /* want: NULL: it is no number */
	} cases[] = {
		{ "0", "0", "" },
		{ "-0", "0", "" },
		{ "-1", "-1", "" },
		{ "007", "7", "" },
		{ "0x10..", "16", ".." },
		{ "-0xffffffffffffffff", "-18446744073709551615", "" },
		{ "18446744073709551615 ", "18446744073709551615", " " },
		{ "18446744073709551616", NULL, "" },
		{ "", NULL, "" },
		{ "-", NULL, "" },
		{ "--1", NULL, "" },
		{ "+1", NULL, "" },
		{ " 1", NULL, "" },
		{ "0x", NULL, "" },
		{ "x1", NULL, "" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[NUMBER_TEXT_MAX];
		struct number number;
		const char *end;

		CASE("parse \"%s\"", cases[i].text);
		CHECK_INT(number_parse(cases[i].text, &number, &end), cases[i].want != NULL);
		if (!cases[i].want)
			continue;
		CHECK_TEXT(number_text(number, text), cases[i].want);
		CHECK_TEXT(end, cases[i].end);
	}
}

static void test_double(void)
{
	static const struct {
		double n;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ -3, "-3" },
		{ 0x1p53, "9007199254740992" },
		{ -0x1p53, "-9007199254740992" },
		{ 0x1p54, NULL },
		{ 0.5, NULL },
		{ NAN, NULL },
		{ INFINITY, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[NUMBER_TEXT_MAX];
		struct number number;

		CASE("double %g", cases[i].n);
		CHECK_INT(number_of_double(cases[i].n, &number), cases[i].want != NULL);
		if (cases[i].want)
			CHECK_TEXT(number_text(number, text), cases[i].want);
	}
}

static void test_types(void)
{
	static const struct {
		size_t size;
		bool is_signed;
		const char *least, *greatest;
	} cases[] = {
		{ 1, false, "0", "255" },
		{ 1, true, "-128", "127" },
		{ 2, false, "0", "65535" },
		{ 2, true, "-32768", "32767" },
		{ 4, false, "0", "4294967295" },
		{ 4, true, "-2147483648", "2147483647" },
		{ 8, false, "0", "18446744073709551615" },
		{ 8, true, "-9223372036854775808", "9223372036854775807" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[NUMBER_TEXT_MAX];

		CASE("%zu bytes, signed %d", cases[i].size, cases[i].is_signed);
		CHECK_TEXT(number_text(number_least(cases[i].size, cases[i].is_signed), text),
			   cases[i].least);
		CHECK_TEXT(number_text(number_greatest(cases[i].size, cases[i].is_signed), text),
			   cases[i].greatest);
	}
}

/* Each number is less than all that follow. */
static void test_compare(void)
{
	static const char *const order[] = { "-18446744073709551615", "-2", "-1", "0", "1", "2",
					     "18446744073709551615" };

	for (size_t i = 0; i < COUNT_OF(order); i++)
		for (size_t j = 0; j < COUNT_OF(order); j++) {
			struct number a, b;
			const char *end;
			int got;

			CASE("%s and %s", order[i], order[j]);
			CHECK_INT(number_parse(order[i], &a, &end), true);
			CHECK_INT(number_parse(order[j], &b, &end), true);
			got = number_compare(a, b);
			CHECK_INT((got > 0) - (got < 0), (i > j) - (i < j));
		}
}

int main(void)
{
	test_parse();
	test_double();
	test_types();
	test_compare();
	return testing_end();
}
