/* SPDX-License-Identifier: MIT */
/*
 * Function names in the kernel's list of traceable functions, whatever the list contains.
 */
#include "tests/unit/testing.h"

#include "plugin/attach/traceable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_from(const char *list, const char *glob, char *ret_names, size_t size,
		     struct error *error)
{
	FILE *file = fmemopen((void *)list, strlen(list), "r");
	struct traceable functions = { 0 };
	int status = traceable_read(file, &functions, glob, error);

	ret_names[0] = '\0';
	for (size_t i = 0; i < functions.count; i++) {
		size_t length = strlen(ret_names);

		snprintf(ret_names + length, size - length, "%s%s", i ? " " : "",
			 functions.names[i]);
	}
	traceable_done(&functions);
	fclose(file);
	return status;
}

static void test_lists(void)
{
	static const struct {
		const char *list, *glob, *want;
		int status;
	} cases[] = {
		{ "b\na\nc\n", "*", "a b c", 0 },
		{ "tcp_b\nudp\ntcp_a\n", "tcp_*", "tcp_a tcp_b", 0 },
		{ "same\nother\nsame\nsame\n", "s*", "same", 0 },
		{ "one\nof_a_module [module]\ntabbed\t[module]\n", "*", "one", 0 },
		{ "one\n__ftrace_invalid_address___12\n", "*", "one", 0 },
		{ "\n\none\nno_end", "*", "one", 0 },
		{ "one\n", "two*", "", -ENOENT },
		{ "one", "*", "", -ENOENT },
		{ "\n", "*", "", -ENOENT },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		char names[256];

		CASE("%s of %s", cases[i].glob, cases[i].list);
		CHECK_INT(read_from(cases[i].list, cases[i].glob, names, sizeof(names), &error),
			  cases[i].status);
		CHECK_TEXT(names, cases[i].want);
		CHECK_INT(error.text[0] != '\0', cases[i].status != 0);
	}
}

static void test_many(void)
{
	static const size_t counts[] = { TRACEABLE_MAX, TRACEABLE_MAX + 1, 3 * TRACEABLE_MAX };

	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		char *list = calloc(counts[i] + 1, 16), *names = calloc(counts[i] + 1, 16);
		struct error error = { "" };
		size_t length = 0;

		CASE("%zu functions", counts[i]);
		for (size_t n = 0; n < counts[i]; n++)
			length += (size_t)sprintf(list + length, "function_%05zu\n", n);
		CHECK_INT(read_from(list, "*", names, 16 * (counts[i] + 1), &error),
			  counts[i] > TRACEABLE_MAX ? -E2BIG : 0);
		if (counts[i] > TRACEABLE_MAX)
			CHECK_HAS(error.text, "more than 4096");
		free(list);
		free(names);
	}
}

int main(void)
{
	test_lists();
	test_many();
	return testing_end();
}
