/* SPDX-License-Identifier: MIT */
/*
 * Files of cgroup v1 in the format of cgroup2, and texts that are no such file.
 */
#include "tests/unit/testing.h"

#include "plugin/source/cgroup1.h"

#include <errno.h>

#define X64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define X1024 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64 X64

static const struct {
	const char *name, *text, *second;
	const char *want; /* NULL: refused */
} cases[] = {
	{ "cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 1234567890\n", "",
	  "nr_periods 5\nnr_throttled 2\nthrottled_usec 1234567   \n" },
	{ "cpu.stat", "throttled_time 999\nnr_bursts 0\n", "",
	  "throttled_usec 0  \nnr_bursts 0\n" },
	{ "cpu.stat", "throttled_time 18446744073709551615", "",
	  "throttled_usec 18446744073709551   " },
	{ "cpu.stat", "throttled_time 99999999999999999999\n", "", NULL },
	{ "cpu.stat", "throttled_time x\n", "", NULL },
	{ "cpu.stat", "throttled_time \n", "", NULL },
	{ "cpu.stat", "nr_periods 5\n", "", "nr_periods 5\n" },
	{ "cpu.stat", "not_throttled_time 5\n", "", "not_throttled_time 5\n" },
	{ "cpu.stat", "", "", "" },
	{ "cpu.stat", X1024, "", NULL },
	{ "cpu.max", "-1\n", "100000\n", "max 100000\n" },
	{ "cpu.max", "20000\n", "100000\n", "20000 100000\n" },
	{ "cpu.max", "20000", "50000", "20000 50000\n" },
	{ "cpu.max", "20000\n", "0\n", NULL },
	{ "cpu.max", "20000\n", "-1\n", NULL },
	{ "cpu.max", "20000\n", "", NULL },
	{ "cpu.max", "x\n", "100000\n", NULL },
	{ "cpu.max", "2 0\n", "100000\n", NULL },
	{ "cpu.max", "99999999999999999999\n", "100000\n", NULL },
	{ "cpu.max", X64 "\n", "100000\n", NULL },
	{ "memory.max", "33554432\n", "", "33554432\n" },
	{ "memory.max", "9223372036854771712\n", "", "max\n" },
	{ "memory.max", "9223372036854710272\n", "", "max\n" },
	{ "memory.max", "-1\n", "", NULL },
	{ "memory.max", "", "", NULL },
	{ "memory.events", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "",
	  "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n" },
	{ "memory.events", X1024, "", NULL },
};

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct cgroup1_file *file = cgroup1_file(cases[i].name);
		char said[CGROUP1_TEXT_MAX + 1] = "", *text = strdup(cases[i].text);
		ssize_t length;

		CASE("%s: %.40s", cases[i].name, cases[i].text);
		/* In a buffer without a NUL, as files have none. */
		length = file->translate(text, strlen(text), cases[i].second,
					 strlen(cases[i].second), said);
		CHECK_INT(length, cases[i].want ? (int)strlen(cases[i].want) : -EINVAL);
		said[length < 0 ? 0 : length] = '\0';
		CHECK_TEXT(said, cases[i].want ?: "");
		free(text);
	}
	CASE("files");
	CHECK_INT(cgroup1_file("io.pressure") == NULL && cgroup1_file("cpu") == NULL, 1);
	CHECK_TEXT(cgroup1_file("cpu.max")->second, "cpu.cfs_period_us");
	return testing_end();
}
