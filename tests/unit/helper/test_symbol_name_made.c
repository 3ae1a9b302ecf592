/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a program generated at run time, by ebpf-symbols, from a map for perf.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/helper/symbol_name.h"
#include "tests/unit/scratch_directory.h"

#include <errno.h>

static struct file_helper files;

static int name_made(const char *map, const uint64_t *addresses, size_t count,
		     struct symbol_names *names, struct error *error)
{
	struct symbol_file file;
	int status;

	scratch_write("map", map);
	status = symbol_open(&files, scratch_path("map"), 0, &file, error);
	if (status == 0) {
		status = symbol_name_made(&files, &file, addresses, count, names, error);
		symbol_close(&file);
	}
	return status;
}

static void test_made(void)
{
	static const uint64_t addresses[] = { 0x2004, 0x1000, 0x3000 };
	struct symbol_names names = { 0 };
	struct error error = { "" };

	CASE("made");
	CHECK_INT(name_made("1000 10 old\n1000 8 La;run \x01\xff\n2000 8 b\n", addresses, 3, &names,
			    &error),
		  0);
	CHECK_UINT(names.count, 3);
	CHECK_TEXT(names.name[0], "b");
	CHECK_TEXT(names.name[1], "La:run ??");
	CHECK_INT(names.name[2] == NULL, 1);
	symbol_names_done(&names);
	CHECK_INT(name_made("a text\n", addresses, 3, &names, &error), -ENOEXEC);
	CHECK_HAS(error.text, "no line of it is START SIZE NAME");
}

int main(void)
{
	char program[4096];

	scratch_begin();
	snprintf(program, sizeof(program), "%s", testing_built("ebpf-symbols"));
	file_helper_init(&files);
	set_symbol_helper(&files, program);
	test_made();
	file_helper_done(&files);
	scratch_end();
	return testing_end();
}
