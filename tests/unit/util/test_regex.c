/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions: which are refused, and what matching may cost on hostile texts.
 */
#include "tests/unit/testing.h"

#include "plugin/util/regex.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

#define MEMORY_MAX (8U << 20) /* bytes */
#define MATCH_S_MAX 0.25      /* of CPU time */
#define STEPS_DIFFER_MAX 10
#define LINE 4095

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void test_accepted(void)
{
	static const struct {
		const char *text, *fits, *misses;
	} cases[] = {
		{ "^/usr/bin/(borg|restic) ", "/usr/bin/borg create", "/usr/bin/borgx" },
		{ "a+b{2,3}c?$", "xaabb", "xab" },
		{ "[]\\\\]x", "\\x", "2x" },
		{ "[[:digit:]]{4}", "port 8080", "port 80" },
		{ "[^]]y", "xy", "]y" },
		{ "a\\{1", "a{1", "a1" },
		{ "^a.b$", "a\nb", "ab\n" },
		{ "\xc3.", "\xc3\xa4", "a" },
		{ "(x)(y)", "xy", "yx" },
		{ "(((((a)+)+)+)+)+b", "aaab", "aaa" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char why[256] = "";
		struct regex regex;

		CASE("%s", cases[i].text);
		CHECK_INT(regex_init(&regex, cases[i].text, why, sizeof(why)), true);
		CHECK_TEXT(why, "");
		CHECK_INT(regex_match(&regex, cases[i].fits), true);
		CHECK_INT(regex_match(&regex, cases[i].misses), false);
		regex_done(&regex);
	}
}

static void test_refused(void)
{
	static char endless[1026];
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "(?<n>a*)\\k<n>", "back reference" },
		{ "(?<n>b)\\g{n}", "back reference" },
		{ "((x{65535}){65535}){65535}", "it is not a regular expression: " },
		{ endless, "longer than 1024 bytes" },
		{ "a(b", "it is not a regular expression: missing closing parenthesis, at byte 3" },
		{ "[a", "it is not a regular expression: " },
		{ "a\\", "it is not a regular expression: " },
	};
	size_t before = allocated();

	memset(endless, 'a', sizeof(endless) - 1);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char why[256] = "";
		struct regex regex;

		CASE("%.40s", cases[i].text);
		CHECK_INT(regex_init(&regex, cases[i].text, why, sizeof(why)), false);
		CHECK_HAS(why, cases[i].why);
		CHECK_INT(allocated() < before + MEMORY_MAX, 1);
	}
}

/* Clock ticks that a failed match takes. It is repeated if the machine was slow meanwhile: once
 * is an accident, always is not. */
static clock_t match_ticks(const struct regex *regex, const char *line)
{
	clock_t least = 0;

	for (int i = 0; i < 5; i++) {
		clock_t begin = clock(), elapsed;

		CHECK_INT(regex_match(regex, line), false);
		elapsed = clock() - begin;
		least = i == 0 || elapsed < least ? elapsed : least;
		if ((double)least / CLOCKS_PER_SEC < MATCH_S_MAX)
			break;
	}
	return least;
}

/* Each line makes the expression try all alternatives. */
static void test_chosen_lines(void)
{
	static const char *const cases[] = {
		"(a+)+[de]",
		"(((a)+)+)+[de]",
		"(a|b|c)*a(a|b|c){20}[de]",
		".*a.{200}[de]",
		"(.*a.*b){40}[qr]",
		"(a?){500}[de]",
		"((a|ab|abc)*){60}[qr]",
		"(?:a*+b|a)+[de]",
		"((?=a*)a)+[de]",
		"(?:(?!(?i)a*+b)a)+[de]",
	};
	static char line[LINE + 1];
	clock_t plain = 0;

	srand(1);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char why[256] = "";
		struct regex regex;
		size_t before = allocated();
		clock_t most = 0;

		CASE("chosen lines: %s", cases[i]);
		CHECK_INT(regex_init(&regex, cases[i], why, sizeof(why)), true);
		for (int n = 0; n < 20; n++) {
			clock_t elapsed;

			for (size_t at = 0; at < LINE; at++)
				line[at] = "abc"[n < 10 ? 0 : rand() % 3];
			elapsed = match_ticks(&regex, line);
			most = elapsed > most ? elapsed : most;
		}
		printf("%s: %.1f ms at most\n", cases[i], (double)most / CLOCKS_PER_SEC * 1000);
		CHECK_INT((double)most / CLOCKS_PER_SEC < MATCH_S_MAX, 1);
		/* Compared with the first expression, which needs short steps only. */
		plain = i == 0 ? most : plain;
		CHECK_INT(most < STEPS_DIFFER_MAX * plain, 1);
		CHECK_INT(allocated() < before + MEMORY_MAX, 1);
		regex_done(&regex);
	}
}

int main(void)
{
	test_accepted();
	test_refused();
	test_chosen_lines();
	return testing_end();
}
