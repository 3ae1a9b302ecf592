/* SPDX-License-Identifier: MIT */
/*
 * Errors for map iterators that name no map, or one that they cannot walk. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/string_list.h"

#include "plugin/object/over.h"
#include "plugin/object/variant.h"

#include <errno.h>

static struct file_reader files;

static const struct {
	const char *option, *want; /* want: NULL: it is correct */
} CASES[] = {
	{ "no_tag", "program no_tag: it does not say which map it walks over; put OVER(MAP) behind "
		    "SEC(\"iter/bpf_map_elem\")" },
	{ "no_map", "program no_map: the object has no map \"hashd\", which OVER names" },
	{ "variable", "program variable: the object has no map \"LICENSE\", which OVER names" },
	{ "two", "program two: two OVER tags" },
	{ "of_task",
	  "program of_task: OVER is for SEC(\"iter/bpf_map_elem\") and SEC(\"iter/bpf_" },
	{ "no_walk", "program no_walk: OVER is for SEC(\"iter/bpf_map_elem\") and" },
	{ "storage",
	  "the map sockets, which OVER names, is not a hash or an array, as iter/bpf_map" },
	{ "no_storage",
	  "the map hashed, which OVER names, is not a socket storage, as iter.s/bpf_" },
	{ "beyond", NULL },
	{ "fine", NULL },
};

static void check(const char *path, const char *option, const char *want)
{
	const struct strings options = STRINGS(option);
	struct error error = { "" };
	struct object object;

	CASE("%s", option);
	CHECK_INT(object_open(&object, testing_built(path), &files, &error), 0);
	CHECK_INT(variant_select(&object, 0, &options, &error), 0);
	CHECK_INT(over_check(&object, &error), want ? -EINVAL : 0);
	if (want)
		CHECK_HAS(error.text, want);
	object_done(&object);
}

int main(void)
{
	file_reader_init(&files);
	for (size_t i = 0; i < COUNT_OF(CASES); i++)
		check("tests/bpf/over_mistakes.bpf.o", CASES[i].option, CASES[i].want);
	check("tests/bpf/over.bpf.o", "all of them", NULL);
	check("tests/bpf/sample.bpf.o", "optional", NULL);
	file_reader_done(&files);
	return testing_end();
}
