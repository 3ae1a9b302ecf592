/* SPDX-License-Identifier: MIT */
/*
 * Classes of responses: rules from lines of Service blocks, and the rules that the kernel gets.
 * Maps are played.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"

#include "plugin/config/response_rule.h"
#include "plugin/service/response_map.h"
#include "plugin/util/message.h"

#define X5 "01234"
#define X15 X5 X5 X5

/* Prints bytes as "48 ?? 00". */
static void print_rule(const struct response_rule *rule, char *to, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)rule->bytes;
	const unsigned char *mask = (const unsigned char *)rule->mask;

	to[0] = '\0';
	for (uint32_t i = 0; i < rule->length; i++) {
		size_t length = strlen(to);

		snprintf(to + length, size - length, mask[i] ? "%02x " : "?? ", bytes[i]);
	}
}

static void test_read(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "HTTP/1.? 5", "48 54 54 50 2f 31 2e ?? 20 35 " },
		{ "-", "2d " },
		{ "?", "?? " },
		{ "\\?", "3f " },
		{ "\\\\", "5c " },
		{ "\\x00\\xfF?\\x3f", "00 ff ?? 3f " },
		{ "\\\\x00", "5c 78 30 30 " },
		{ "\xc3\xa4", "c3 a4 " },
		{ X15 "5", "30 31 32 33 34 30 31 32 33 34 30 31 32 33 34 35 " },
		{ X15 "\\x35", "30 31 32 33 34 30 31 32 33 34 30 31 32 33 34 35 " },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct response_rule rule;
		char why[256] = "", got[256];

		CASE("read %s", cases[i].text);
		CHECK_INT(response_rule_parse("5xx", cases[i].text, &rule, why, sizeof(why)), true);
		CHECK_TEXT(why, "");
		CHECK_TEXT(rule.class_name, "5xx");
		print_rule(&rule, got, sizeof(got));
		CHECK_TEXT(got, cases[i].want);
	}
}

static void test_mistakes(void)
{
	static const struct {
		const char *class_name, *text, *want;
	} cases[] = {
		{ "5xx", X15 "67", "only the first 16 bytes of a response are compared" },
		{ "5xx", X15 "6\\x37", "only the first 16 bytes" },
		{ "5xx", "a\\", "after a backslash come x and two" },
		{ "5xx", "\\n", "after a backslash" },
		{ "5xx", "\\x", "after a backslash" },
		{ "5xx", "\\x1", "after a backslash" },
		{ "5xx", "\\xg1", "after a backslash" },
		{ "5xx", "\\X11", "after a backslash" },
		{ X15 "5", "a", "letters, digits and underscores, 15 at most" },
		{ "5-xx", "a", "letters, digits and underscores" },
		{ "5 xx", "a", "letters, digits and underscores" },
		{ "a/b", "a", "letters, digits and underscores" },
		{ "\xc3\xa4", "a", "letters, digits and underscores" },
		{ "other", "a", "this class is reserved" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct response_rule rule = { .length = 99 };
		char why[256] = "";

		CASE("mistake %s", cases[i].text);
		CHECK_INT(response_rule_parse(cases[i].class_name, cases[i].text, &rule, why,
					      sizeof(why)),
			  false);
		CHECK_HAS(why, cases[i].want);
		CHECK_UINT(rule.length, 99);
	}
}

static void test_covers(void)
{
	static const struct {
		const char *rule, *later;
		bool want;
	} cases[] = {
		{ "a", "a", true },
		{ "a", "ab", true },
		{ "ab", "a", false },
		{ "a?", "a", false },
		{ "a?", "ab", true },
		{ "ab", "a?", false },
		{ "?", "z", true },
		{ "a", "b", false },
		{ "?b", "ab", true },
		{ "?b", "ac", false },
		{ "01234567?", "012345678", true },
		{ "012345678", "01234567?", false },
		{ "\\x00", "?", false },
		{ "?", "\\x00", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct response_rule rule, later;
		char why[256];

		CASE("%s covers %s", cases[i].rule, cases[i].later);
		CHECK_INT(response_rule_parse("a", cases[i].rule, &rule, why, sizeof(why)), true);
		CHECK_INT(response_rule_parse("b", cases[i].later, &later, why, sizeof(why)), true);
		CHECK_INT(response_rule_covers(&rule, &later), cases[i].want);
	}
}

static void test_lost(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "xff", true }, { "???x01", true }, { "\\xff", false },   { "x", false },
		{ "x1", false }, { "5xx", false },   { "\\\\xff", false }, { "xxff", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("backslash lost in %s", cases[i].text);
		CHECK_INT(response_rule_lost_backslash(cases[i].text), cases[i].want);
	}
}

/* Rules are in the order of the lines, for the service that has them. */
static void test_fill(void)
{
	struct response_rules rules;
	uint32_t row = SERVICE_FIRST;
	struct fixture f;

	CASE("fill");
	CHECK_INT(fixture_init(&f,
			       "<Service \"a\">\nProcess \"a\"\n</Service>\n"
			       "<Service \"b\">\nProcess \"b\"\nResponse \"5xx\" \"HTTP/1.? 5\"\n"
			       "Response \"bad\" \"HTTP/1.? 4\"\nResponse \"5xx\" \"-\"\n"
			       "</Service>"),
		  0);
	CHECK_INT(config_has_responses(&f.config), true);
	CHECK_INT(maps_get("service_responses", &row, &rules), false);
	row++;
	CHECK_INT(maps_get("service_responses", &row, &rules), true);
	CHECK_UINT(rules.count, 3);
	CHECK_TEXT(rules.rule[0].class_name, "5xx");
	CHECK_TEXT(rules.rule[1].class_name, "bad");
	CHECK_TEXT(rules.rule[2].class_name, "5xx");
	CHECK_UINT(rules.rule[0].length, 10);
	CHECK_UINT(rules.rule[2].length, 1);
	CHECK_UINT(f.config.classes.count, 3);
	CHECK_TEXT(f.config.classes.item[0], RESPONSE_UNKNOWN);
	fixture_done(&f);
}

/* Without a Response line, the kernel gets no rules. */
static void test_none(void)
{
	struct fixture f;

	CASE("none");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcess \"a\"\n</Service>"), 0);
	CHECK_INT(config_has_responses(&f.config), false);
	CHECK_UINT(maps_count("service_responses"), 0);
	CHECK_UINT(bpf_map__max_entries(object_map(&f.services.object, "service_responses")), 1);
	fixture_done(&f);
}

int main(void)
{
	message_to(daemon_record);
	test_read();
	test_mistakes();
	test_covers();
	test_lost();
	test_fill();
	test_none();
	daemon_clear();
	return testing_end();
}
