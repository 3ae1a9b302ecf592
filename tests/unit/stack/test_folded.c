/* SPDX-License-Identifier: MIT */
/*
 * Lines of folded files, and names of these files.
 */
#include "tests/unit/testing.h"

#include "plugin/stack/folded.h"
#include "plugin/stack/folded_file.h"

#define X16 "0123456789abcdef"
#define X112 X16 X16 X16 X16 X16 X16 X16
#define X127 X112 "0123456789abcde"

static void add(struct folded *folded, const char *stack, uint64_t value)
{
	folded_add(folded, stack, strlen(stack), value);
}

static void check(struct folded *folded, const char *want)
{
	char got[1024] = "";

	folded_sort(folded);
	for (size_t i = 0; i < folded->count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %" PRIu64 "\n",
			 folded->line[i].stack, folded->line[i].value);
	if (folded->other)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "[other] %" PRIu64 "\n",
			 folded->other);
	CHECK_TEXT(got, want);
	folded_done(folded);
}

static void test_adding(void)
{
	struct folded folded = { 0 }, more = { 0 };

	CASE("sums");
	add(&folded, "main;parse", 2);
	add(&folded, "main", 5);
	add(&folded, "main;parse", 7);
	add(&folded, "[other]", 1);
	add(&more, "main", 1);
	add(&more, "main;write", 6);
	add(&more, "[other]", 2);
	folded_add_all(&folded, &more);
	folded_done(&more);
	check(&folded, "main;parse 9\nmain 6\nmain;write 6\n[other] 3\n");

	CASE("strange stacks");
	add(&folded, "a\nb;c\td\x7f\x1b", 4);
	add(&folded, "  operator new(unsigned long) ", 3);
	add(&folded, "", 2);
	add(&folded, "  ", 1);
	check(&folded, "a?b;c?d?? 4\n[unknown] 3\noperator new(unsigned long) 3\n");

	CASE("a value that has no room");
	add(&folded, "a", FOLDED_VALUE_MAX - 1);
	add(&folded, "a", 5);
	add(&folded, "b", UINT64_MAX);
	add(&folded, "b", UINT64_MAX);
	check(&folded, "a 999999999999999\nb 999999999999999\n");
}

static void test_long(void)
{
	static char stack[3 * FOLDED_STACK_MAX];
	struct folded folded = { 0 };
	const char *end;

	CASE("a stack that is too long");
	memset(stack, 'f', sizeof(stack));
	for (size_t i = 100; i < sizeof(stack); i += 100)
		stack[i] = ';';
	folded_add(&folded, stack, sizeof(stack), 1);
	CHECK_UINT(folded.line[0].length < FOLDED_STACK_MAX, 1);
	CHECK_UINT(folded.line[0].length > FOLDED_STACK_MAX - 100, 1);
	end = strstr(folded.line[0].stack, ";[left out]");
	CHECK_INT(end && !strcmp(end, ";[left out]") && (end - folded.line[0].stack) % 100 == 0, 1);
	folded_done(&folded);

	CASE("one name that is too long");
	memset(stack, 'f', sizeof(stack));
	folded_add(&folded, stack, sizeof(stack), 1);
	folded_add(&folded, stack, FOLDED_STACK_MAX - 1, 1);
	CHECK_UINT(folded.count, 2);
	CHECK_UINT(folded.line[0].length, FOLDED_STACK_MAX - 1);
	CHECK_UINT(folded.line[1].length, FOLDED_STACK_MAX - 1);
	folded_done(&folded);
}

static void test_parsing(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "main;parse 17\nmain 4\nmain 1\n", "main;parse 17\nmain 5\n" },
		{ "operator new(int) 3\n[other] 5\n[other] 2\n",
		  "operator new(int) 3\n[other] 7\n" },
		{ "main;parse 17", "" },
		{ "cut 1\nof", "cut 1\n" },
		{ "a 5 \n a 5\n 5\na\na -1\na 1.5\na 0x5\na 0\na\t5\na  5\n\n\nb 2\n", "b 2\n" },
		{ "a 9999999999999999\na 999999999999999\n", "a 999999999999999\n" },
		{ "a\rb 5\na\x7f 5\na\x1b[1m 5\ncaf\xc3\xa9 1\n", "caf\xc3\xa9 1\n" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct folded folded = { 0 };

		CASE("\"%s\"", cases[i].text);
		folded_parse(&folded, cases[i].text, strlen(cases[i].text));
		check(&folded, cases[i].want);
	}
}

static void test_cutting(void)
{
	struct folded folded = { 0 };
	char stack[16];

	CASE("lines");
	for (unsigned i = 1; i <= 1000; i++) {
		snprintf(stack, sizeof(stack), "f%u", i);
		add(&folded, stack, i);
	}
	folded_cut(&folded, 1000, SIZE_MAX);
	CHECK_UINT(folded.count, 1000);
	folded_cut(&folded, 3, SIZE_MAX);
	add(&folded, "f999", 5);
	add(&folded, "f1", 1);
	check(&folded, "f999 1004\nf1000 1000\nf998 998\nf1 1\n[other] 497503\n");

	CASE("bytes: of what fits, the greatest");
	add(&folded, "a", 5);
	add(&folded, X127, 4);
	add(&folded, "b", 3);
	folded_cut(&folded, 100, 40);
	CHECK_UINT(folded.bytes <= 40, 1);
	check(&folded, "a 5\nb 3\n[other] 4\n");

	CASE("nothing");
	add(&folded, "a", 5);
	folded_cut(&folded, 0, 0);
	check(&folded, "[other] 5\n");
}

static void test_names(void)
{
	static const struct {
		const char *text, *service, *view, *hour;
	} cases[] = {
		{ "web-cpu-20261124-13.folded", "web", "cpu", "20261124-13" },
		{ "my-web-cpu-waits-20261124-13.folded", "my-web-cpu", "waits", "20261124-13" },
		{ "a-cpu-20261124-13-off_cpu2-20261124-13.folded", "a-cpu-20261124-13", "off_cpu2",
		  "20261124-13" },
		{ "--cpu-20261124-13.folded", "-", "cpu", "20261124-13" },
		{ X127 "-cpu-20261124-13.folded", X127, "cpu", "20261124-13" },
		{ "a-abcdefghijklmnopqrstuvw-20261124-13.folded", "a", "abcdefghijklmnopqrstuvw",
		  "20261124-13" },
		{ .text = X127 "a-cpu-20261124-13.folded" },
		{ .text = "a-abcdefghijklmnopqrstuvwx-20261124-13.folded" },
		{ .text = "web-20261124-13.folded" },
		{ .text = "-cpu-20261124-13.folded" },
		{ .text = "web--20261124-13.folded" },
		{ .text = "web-CPU-20261124-13.folded" },
		{ .text = "web-c.u-20261124-13.folded" },
		{ .text = "web-cpu-2026112-13.folded" },
		{ .text = "web-cpu-20261124-1x.folded" },
		{ .text = "web-cpu-20261124.13.folded" },
		{ .text = "web-cpu-20261124-13.folded.gz" },
		{ .text = "web-cpu-20261124-13.svg" },
		{ .text = ".folded" },
		{ .text = "" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[FOLDED_NAME_MAX];
		struct folded_name name;
		bool is_name;

		CASE("%s", cases[i].text);
		is_name = folded_name_parse(cases[i].text, &name);
		CHECK_INT(is_name, cases[i].service != NULL);
		if (!is_name || !cases[i].service)
			continue;
		CHECK_TEXT(name.service, cases[i].service);
		CHECK_TEXT(name.view, cases[i].view);
		CHECK_TEXT(name.hour, cases[i].hour);
		folded_name_text(&name, text);
		CHECK_TEXT(text, cases[i].text);
	}
}

/* An hour that a clock repeats has one file. */
static void test_hours(void)
{
	static const struct {
		time_t when;
		const char *want;
	} cases[] = {
		{ 1792886399, "20261025-01" }, { 1792886400, "20261025-02" },
		{ 1792889999, "20261025-02" }, { 1792890000, "20261025-02" },
		{ 1792893599, "20261025-02" }, { 1792893600, "20261025-03" },
		{ 1774745999, "20260329-01" }, { 1774746000, "20260329-03" },
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char hour[FOLDED_HOUR_MAX];

		CASE("%lld", (long long)cases[i].when);
		folded_hour(cases[i].when, hour);
		CHECK_TEXT(hour, cases[i].want);
	}
	unsetenv("TZ");
	tzset();
}

int main(void)
{
	test_adding();
	test_long();
	test_parsing();
	test_cutting();
	test_names();
	test_hours();
	return testing_end();
}
