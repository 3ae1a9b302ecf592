/* SPDX-License-Identifier: MIT */
/*
 * Records with texts instead of frames, as lines of folded files.
 */
#include "tests/unit/testing.h"

#include "plugin/stack/frame_text.h"

#include <stdlib.h>

#define TEXT(bytes) bytes, sizeof(bytes) - 1
#define X16 "0123456789abcdef"
#define X64 X16 X16 X16 X16
#define X255 X64 X64 X64 X16 X16 X16 "0123456789abcde"

static void test_lines(void)
{
	static const struct {
		const char *text;
		size_t length;
		const char *want;
	} cases[] = {
		{ TEXT("[write]\0wal\0db\0lib\0var\0"), "var;lib;db;wal;[write]" },
		{ TEXT("one\0"), "one" },
		{ TEXT("no end\0begin"), "begin;no_end" },
		{ TEXT("[read]\0a;b 7\nc;d 8\0"), "a_b_7_c_d_8;[read]" },
		{ TEXT("[read]\0\0dir\0"), "dir;_;[read]" },
		{ TEXT("\xff\x1b[1m\0..\0.\0"), "_;_.;__[1m" },
		{ TEXT("caf\xc3\xa9\0"), "caf\xc3\xa9" },
		{ TEXT(X255 "\0dir\0"), "dir;" X255 },
		{ TEXT(X255 "too long\0dir\0"), "dir;" X255 },
		{ TEXT(""), "[unknown]" },
		{ TEXT("\0"), "_" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char got[FRAME_TEXT_MAX];

		CASE("%s", cases[i].want);
		memset(got, 'x', sizeof(got));
		frame_text(cases[i].text, cases[i].length, got, sizeof(got));
		CHECK_TEXT(got, cases[i].want);
	}
}

static void test_room(void)
{
	static const struct {
		size_t size;
		const char *want;
	} cases[] = {
		{ 16, "lib;db;[write]" },
		{ 18, "lib;db;[write]" },
		{ 19, "var;lib;db;[write]" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *got = malloc(cases[i].size);

		CASE("room for %zu bytes", cases[i].size);
		frame_text(TEXT("[write]\0db\0lib\0var\0"), got, cases[i].size);
		CHECK_TEXT(got, cases[i].want);
		free(got);
	}
}

int main(void)
{
	test_lines();
	test_room();
	return testing_end();
}
