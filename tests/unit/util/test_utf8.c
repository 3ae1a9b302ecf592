/* SPDX-License-Identifier: MIT */
/*
 * Texts that are chosen by others, as words of lines.
 */
#include "tests/unit/testing.h"

#include "plugin/util/utf8.h"

#define X16 "0123456789abcdef"
#define X112 X16 X16 X16 X16 X16 X16 X16
#define X127 X112 "0123456789abcde"

static void test_clean(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "nginx", "nginx" },
		{ "kworker/0:1", "kworker_0:1" },
		{ "Web Content", "Web_Content" },
		{ "a\tb\nc\rd\x1b[1m\x7f", "a_b_c_d_[1m_" },
		{ "\xc2\x9b[1m\xc2\xa0", "__[1m\xc2\xa0" },
		{ "/", "_" },
		{ "../../etc", ".._.._etc" },
		{ "", "_" },
		{ ".", "_" },
		{ "..", "_." },
		{ "...", "..." },
		{ ".hidden", ".hidden" },
		{ "..a", "..a" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xe2\x82\xac \xf0\x9f\x90\x9d", "\xe2\x82\xac_\xf0\x9f\x90\x9d" },
		{ "\xe9t\xe9", "_t_" },
		{ "cut \xe2\x82", "cut___" },
		{ "\x80\xc0\xaf\xe0\x80\xaf", "______" },
		{ "\xed\xa0\x80\xf4\x90\x80\x80\xff\xf9\x80\x80\x80", "____________" },
		{ "100%s%n", "100%s%n" },
		{ X127, X127 },
		{ X127 "cut", X127 },
		{ X112 "0123456789abcd\xc3\xa9", X112 "0123456789abcd" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char got[128];

		CASE("\"%s\"", cases[i].name);
		memset(got, 'x', sizeof(got));
		utf8_clean(got, sizeof(got), cases[i].name);
		CHECK_TEXT(got, cases[i].want);
	}
}

static void test_short(void)
{
	char got[4] = "xxx";

	CASE("room for 1 to 3 bytes");
	utf8_clean(got, 1, "name");
	CHECK_TEXT(got, "");
	utf8_clean(got, 1, "");
	CHECK_TEXT(got, "");
	utf8_clean(got, 2, "..");
	CHECK_TEXT(got, "_");
	utf8_clean(got, 3, "...");
	CHECK_TEXT(got, "_.");
}

int main(void)
{
	test_clean();
	test_short();
	return testing_end();
}
