/* SPDX-License-Identifier: MIT */
/*
 * Lines of the event file: one object of JSON each, whatever the names and texts are.
 */
#include "tests/unit/testing.h"

#include "plugin/event/event_line.h"

static void check(const struct event_line *line, const char *want)
{
	char got[EVENT_LINE_MAX];
	size_t length = event_line_write(line, got);

	CHECK_TEXT(got, want);
	CHECK_UINT(length, strlen(want));
}

static void test_line(void)
{
	const struct event_line line = {
		.time_ms = 1795800500007,
		.host = "db1",
		.service = "nginx",
		.kind = "oom_kills",
		.series = "total_events-oom_kills",
		.health = HEALTH_FAILURE,
		.text = "OOM kill: nginx (pid 7)",
	};

	CASE("a line");
	check(&line,
	      "{\"time\": 1795800500.007, \"host\": \"db1\", \"service\": \"nginx\", \"kind\": \"oom_kills\", "
	      "\"severity\": \"failure\", \"series\": \"total_events-oom_kills\", "
	      "\"text\": \"OOM kill: nginx (pid 7)\"}\n");
}

static void test_texts(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "a \"b\" \\c/", "a \\\"b\\\" \\\\c/" },
		{ "a\nb\tc\x1b[31m\x7f", "a_b_c_[31m_" },
		{ "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xff\xc3", "__" }, /* no UTF-8, and a part of a letter */
		{ "\xc2\x9b"
		  "31m",
		  "__31m" },                         /* a control character of two bytes */
		{ "\xed\xa0\x80\xc0\xaf", "_____" }, /* a surrogate, and an overlong slash */
		{ "</script>", "</script>" },
	};
	char want[512];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct event_line line = { .health = HEALTH_OKAY };

		CASE("%s", cases[i].want);
		snprintf(line.text, sizeof(line.text), "%s", cases[i].text);
		snprintf(want, sizeof(want),
			 "{\"time\": 0.000, \"host\": \"\", \"service\": \"\", \"kind\": \"\", "
			 "\"severity\": \"okay\", \"series\": \"\", \"text\": \"%s\"}\n",
			 cases[i].want);
		check(&line, want);
	}
}

/* The longest strings, of bytes that need an escape. */
static void test_longest(void)
{
	struct event_line line = { .time_ms = UINT64_MAX, .health = HEALTH_WARNING };
	struct {
		char *text;
		size_t size;
	} members[] = {
		{ line.host, sizeof(line.host) }, { line.service, sizeof(line.service) },
		{ line.kind, sizeof(line.kind) }, { line.series, sizeof(line.series) },
		{ line.text, sizeof(line.text) },
	};
	char got[EVENT_LINE_MAX];
	size_t length;

	CASE("the longest");
	for (size_t i = 0; i < COUNT_OF(members); i++)
		memset(members[i].text, '"', members[i].size - 1);
	length = event_line_write(&line, got);
	CHECK_UINT(length, strlen(got));
	CHECK_INT(length < EVENT_LINE_MAX, true);
	CHECK_HAS(got, "\\\"\\\"\"}\n");
}

int main(void)
{
	test_line();
	test_texts();
	test_longest();
	return testing_end();
}
