/* SPDX-License-Identifier: MIT */
/*
 * HELP and UNIT tags.
 */
#include "tests/unit/testing.h"

#include "contrib/describe/help.h"

#include <errno.h>

#define X16 "0123456789abcdef"
#define X64 X16 X16 X16 X16

static void check_help(const char *text, const char *title, const char *others)
{
	struct error error = { "" };
	struct help help;

	CASE("%s", text);
	CHECK_INT(help_parse(text, &help, &error), 0);
	CHECK_TEXT(help.title, title);
	CHECK_TEXT(help.text, others);
	CHECK_TEXT(error.text, "");
}

static void check_mistake(const char *text, const char *want)
{
	struct help help = { .title = "untouched" };
	struct error error = { "" };

	CASE("%s", text);
	CHECK_INT(help_parse(text, &help, &error), -EINVAL);
	CHECK_TEXT(help.title, "untouched");
	CHECK_HAS(error.text, want);
}

static void check_unit(const char *text, int want)
{
	char unit[HELP_UNIT_MAX] = "untouched";
	struct error error = { "" };

	CASE("%s", text);
	CHECK_INT(help_unit(text, unit, &error), want);
	CHECK_TEXT(unit, want ? "untouched" : text);
	CHECK_HAS(error.text, want ? "a UNIT has 1 to 47 bytes of printable ASCII" : "");
}

int main(void)
{
	check_help("Requests", "Requests", "");
	check_help("Requests: by socket", "Requests", "by socket");
	check_help("Ratio 1:2: a: b <c>", "Ratio 1:2", "a: b <c>");
	check_mistake("", "the title of a HELP has 1 to 63 bytes of printable ASCII without |");
	check_mistake(": text", "the title of a HELP");
	check_mistake(" Requests", "the title of a HELP");
	check_mistake("Requests : text", "the title of a HELP");
	check_mistake(X64, "the title of a HELP");
	check_mistake("a|b", "the title of a HELP");
	check_mistake("a\nb", "the title of a HELP");
	check_mistake("\xc3\xbc", "the title of a HELP");
	check_mistake("Requests: ", "the text of a HELP has 1 to 255 bytes");
	check_mistake("Requests: a | b", "the text of a HELP");
	check_mistake("Requests: " X64 X64 X64 X64, "the text of a HELP");
	check_unit("percent of one CPU", 0);
	check_unit("", -EINVAL);
	check_unit("a|b", -EINVAL);
	check_unit(X64, -EINVAL);
	return testing_end();
}
