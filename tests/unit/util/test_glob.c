/* SPDX-License-Identifier: MIT */
/*
 * plugin/util/glob.c: names with wildcards.
 */
#include "tests/unit/testing.h"

#include "plugin/util/glob.h"

static void test_match(void)
{
	static const struct {
		const char *glob, *text;
		bool matches;
	} cases[] = {
		{ "web", "web", true },
		{ "web", "web2", false },
		{ "web", "we", false },
		{ "", "", true },
		{ "", "x", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "**", "x", true },
		{ "web-*", "web-1", true },
		{ "web-*", "web-", true },
		{ "web-*", "web", false },
		{ "*-1", "web-1-1", true },
		{ "a*b*c", "aXbYbZc", true },
		{ "a*b*c", "aXbYbZ", false },
		{ "web-?", "web-1", true },
		{ "web-?", "web-", false },
		{ "web-?", "web-12", false },
		{ "php-fpm@*", "php-fpm@8.2", true },
		{ "web[12]", "web2", true },
		{ "web[12]", "web3", false },
		{ "web[0-9a]x", "web7x", true },
		{ "web[!0-9]", "webx", true },
		{ "web[!0-9]", "web7", false },
		{ "*[0-9]z", "a1b2z", true },
		{ "web[]]", "web]", true },
		{ "web[!]]", "webx", true },
		{ "web[!]]", "web]", false },
		{ "web[a-]", "web-", true },
		/* Not a valid set: it is literal. */
		{ "web[12", "web[12", true },
		{ "web[", "web[", true },
		{ "my\\x2dapp", "my\\x2dapp", true },
		{ "my\\*", "my\\x2dapp", true },
		{ "\xc3\xa9*", "\xc3\xa9tude", true },
		{ "[\xc3-\xc4]x", "\xc3x", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s: %s", cases[i].glob, cases[i].text);
		CHECK_INT(glob_match(cases[i].glob, cases[i].text), cases[i].matches);
	}
}

/* With backtracking at each star, as in fnmatch(3), these would take years. */
static void test_time(void)
{
	char glob[201], text[2001];

	for (size_t i = 0; i + 2 < sizeof(glob); i += 2)
		memcpy(glob + i, "*a", 2);
	glob[sizeof(glob) - 1] = '\0';
	memset(text, 'a', sizeof(text) - 2);
	strcpy(text + sizeof(text) - 2, "b");
	CASE("many stars");
	CHECK_INT(glob_match(glob, text), false);
}

static void test_is_glob(void)
{
	CASE("wildcards");
	CHECK_INT(glob_has_wildcard("web-*"), true);
	CHECK_INT(glob_has_wildcard("web-?"), true);
	CHECK_INT(glob_has_wildcard("web-[12]"), true);
	CHECK_INT(glob_has_wildcard("web-[12"), false);
	CHECK_INT(glob_has_wildcard("my\\x2dapp@1.service"), false);
}

int main(void)
{
	test_match();
	test_time();
	test_is_glob();
	return testing_end();
}
