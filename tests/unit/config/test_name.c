/* SPDX-License-Identifier: MIT */
/*
 * Names that are chosen by others, as series have them.
 */
#include "tests/unit/testing.h"

#include "plugin/config/name.h"

#define X16 "0123456789abcdef"
#define X112 X16 X16 X16 X16 X16 X16 X16
#define X118 X112 "012345"
#define X127 X112 "0123456789abcde"

static void test_clean(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "nginx", "nginx" },
		{ "Az09_-.@:+", "Az09_-.@:+" },
		{ "kworker/0:1", "kworker_0:1" },
		{ "Web Content", "Web_Content" },
		{ "a;b=c", "a_b_c" },
		{ "*", "_" },
		{ "{x}[y]?~", "_x__y___" },
		{ "a\tb\nc\rd\x1b[1m\x7f", "a_b_c_d__1m_" },
		{ "!\"#$%&'(),<>\\^`|", "________________" },
		{ "100%s%n", "100_s_n" },
		{ "", "_" },
		{ ".", "_" },
		{ "..", "_." },
		{ "...", "..." },
		{ ".hidden", ".hidden" },
		{ "../../etc", ".._.._etc" },
		{ "caf\xc3\xa9", "caf_" },
		{ "r\xd0\xb5"
		  "dis",
		  "r_dis" },                                /* U+0435 looks like an e */
		{ "redis\xe2\x80\x8b", "redis_" },          /* U+200B has no width */
		{ "\xe2\x80\xaesider", "_sider" },          /* U+202E turns the line around */
		{ "\xe2\x82\xac \xf0\x9f\x90\x9d", "___" }, /* three letters */
		{ "\xe9t\xe9", "_t_" },                     /* no UTF-8 */
		{ "cut \xe2\x82", "cut___" },
		{ "\x80\xc0\xaf\xe0\x80\xaf", "______" },
		{ X127, X127 },
		{ X127 "cut", X127 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char got[SUBJECT_NAME_MAX];

		CASE("\"%s\"", cases[i].name);
		memset(got, 'x', sizeof(got));
		CHECK_UINT(name_clean(got, sizeof(got), cases[i].name),
			   strlen(cases[i].want) + 3 * (i + 1 == COUNT_OF(cases)));
		CHECK_TEXT(got, cases[i].want);
	}
}

static void test_short_names(void)
{
	char got[4] = "xxx";

	CASE("room for 1 to 3 bytes");
	name_clean(got, 1, "name");
	CHECK_TEXT(got, "");
	name_clean(got, 1, "");
	CHECK_TEXT(got, "");
	name_clean(got, 2, "..");
	CHECK_TEXT(got, "_");
	name_clean(got, 3, "...");
	CHECK_TEXT(got, "_.");
}

static void test_attempts(void)
{
	static const struct {
		const char *name, *first, *second, *third;
	} cases[] = {
		{ "web_1", "web_1", "web_1+08d71a62", "web_1+08d71a63" },
		{ "web.1", "web.1", "web.1+096491d5", "web.1+096491d6" },
		{ "a;b", "a_b", "a_b+04a28e96", "a_b+04a28e97" },
		{ X127, X127, X118 "+32878fe2", X118 "+32878fe3" },
		{ X127 "f", X118 "+dc58e265", X118 "+dc58e266", X118 "+dc58e267" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *const wants[] = { cases[i].first, cases[i].second, cases[i].third };

		for (unsigned k = 0; k < COUNT_OF(wants); k++) {
			char got[SUBJECT_NAME_MAX];

			CASE("\"%s\", attempt %u", cases[i].name, k);
			name_attempt(got, sizeof(got), cases[i].name, k);
			CHECK_TEXT(got, wants[k]);
		}
	}
}

static void test_same(void)
{
	static const struct {
		const char *a, *b;
		bool want;
	} cases[] = {
		{ "web", "web", true },      { "web.1", "web_1", true }, { "web_1", "web.1", true },
		{ "web", "web1", false },    { "web1", "web", false },   { "web", "Web", false },
		{ "web-1", "web_1", false }, { "", "", true },           { "a.", "a", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("\"%s\" and \"%s\"", cases[i].a, cases[i].b);
		CHECK_INT(name_is_same(cases[i].a, cases[i].b), cases[i].want);
	}
}

static void test_escape(void)
{
	char got[16];

	CASE("escaped");
	name_escape(got, sizeof(got), "a b\"\\\n\xe2");
	CHECK_TEXT(got, "a b\\x22\\x5c\\x0a");
	name_escape(got, sizeof(got), "\xe2\x80\xae");
	CHECK_TEXT(got, "\\xe2\\x80\\xae");
	name_escape(got, sizeof(got), "0123456789abcdef");
	CHECK_TEXT(got, "0123456789abcde");
	name_escape(got, sizeof(got), "");
	CHECK_TEXT(got, "");
}

int main(void)
{
	test_clean();
	test_short_names();
	test_attempts();
	test_same();
	test_escape();
	return testing_end();
}
