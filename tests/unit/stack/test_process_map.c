/* SPDX-License-Identifier: MIT */
/*
 * The executable mappings of a process, by the text of /proc/PID/maps.
 */
#include "tests/unit/testing.h"

#include "plugin/stack/process_map.h"

#include <errno.h>

#define MAPS                                                                               \
	"55d0c8a00000-55d0c8a02000 r--p 00000000 fe:01 1835013    /usr/bin/a program\n"    \
	"55d0c8a02000-55d0c8a21000 r-xp 00002000 fe:01 1835013    /usr/bin/a program\n"    \
	"no line\n"                                                                        \
	"7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n"                               \
	"7f0000010000-7f0000020000 r-xs 00003000 00:01 77 /memfd:doublemapper (deleted)\n" \
	"7f0000018000-7f0000028000 r-xp 00000000 fe:01 5 /overlaps\n"                      \
	"7f0000030000-7f0000040000 r-xp 00001000 00:2b 6 /lib/gone.so (deleted)\n"         \
	"7f0000050000-7f0000050000 r-xp 00000000 fe:01 7 /empty\n"                         \
	"7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0 [vdso]\n"                         \
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]"

static void test_find(void)
{
	static const struct {
		uint64_t address;
		const char *path; /* NULL: no mapping */
		enum code_kind kind;
		uint64_t offset;
	} cases[] = {
		{ 0x55d0c8a01000, NULL, 0, 0 },
		{ 0x55d0c8a02000, "/usr/bin/a program", CODE_OF_FILE, 0x2000 },
		{ 0x55d0c8a20fff, "/usr/bin/a program", CODE_OF_FILE, 0x20fff },
		{ 0x55d0c8a21000, NULL, 0, 0 },
		{ 0x7f0000000010, "", CODE_MADE, 0x10 },
		{ 0x7f0000019000, "/memfd:doublemapper (deleted)", CODE_MADE, 0xc000 },
		{ 0x7f0000025000, NULL, 0, 0 },
		{ 0x7f0000030001, "/lib/gone.so (deleted)", CODE_OF_FILE, 0x1001 },
		{ 0x7f0000050000, NULL, 0, 0 },
		{ 0x7ffc00000800, "[vdso]", CODE_OF_KERNEL, 0x800 },
		{ 0xffffffffff600400, "[vsyscall]", CODE_OF_KERNEL, 0x400 },
		{ 0, NULL, 0, 0 },
		{ UINT64_MAX, NULL, 0, 0 },
	};
	char text[] = MAPS;
	struct process_map map;

	CHECK_INT(process_map_parse(text, 100, &map), 0);
	CHECK_UINT(map.count, 6);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct code_mapping *found = process_map_find(&map, cases[i].address);

		CASE("%llx", (unsigned long long)cases[i].address);
		CHECK_TEXT(found ? map.paths + found->path : "none",
			   cases[i].path ? cases[i].path : "none");
		if (!found)
			continue;
		CHECK_INT(found->kind, cases[i].kind);
		CHECK_UINT(cases[i].address - found->begin + found->offset, cases[i].offset);
	}
	process_map_done(&map);
}

static void test_bounds(void)
{
	char text[] = MAPS, nothing[] = "", cut[] = "55d0c8a02000-55d0c8a21000 r-x";
	struct process_map map;

	CASE("at most two");
	CHECK_INT(process_map_parse(text, 2, &map), 0);
	CHECK_UINT(map.count, 2);
	process_map_done(&map);
	CASE("nothing, and a line that is cut");
	CHECK_INT(process_map_parse(nothing, 2, &map), 0);
	CHECK_INT(process_map_find(&map, 1) == NULL, 1);
	process_map_done(&map);
	CHECK_INT(process_map_parse(cut, 2, &map), 0);
	CHECK_UINT(map.count, 0);
	process_map_done(&map);
}

int main(void)
{
	test_find();
	test_bounds();
	return testing_end();
}
