/* SPDX-License-Identifier: MIT */
/*
 * Errors for map iterators that name no map, or one that they cannot walk. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/string_list.h"

#include "plugin/object/hook_set_parts.h"
#include "plugin/object/iter_map.h"

#include <errno.h>

static struct file_helper files;

static const struct {
	const char *option, *want; /* want: NULL: it is correct */
} CASES[] = {
	{ "no_tag",
	  "program no_tag: it does not say which map it walks over; put ITER_MAP(MAP) after "
	  "SEC(\"iter/bpf_map_elem\")" },
	{ "no_map", "program no_map: the object has no map \"hashd\", which ITER_MAP names" },
	{ "variable", "program variable: the object has no map \"LICENSE\", which ITER_MAP names" },
	{ "two", "program two: two ITER_MAP tags" },
	{ "of_task",
	  "program of_task: ITER_MAP is for SEC(\"iter/bpf_map_elem\") and SEC(\"iter/bpf_" },
	{ "no_walk", "program no_walk: ITER_MAP is for SEC(\"iter/bpf_map_elem\") and" },
	{ "storage",
	  "the map sockets, which ITER_MAP names, is not a hash or an array, which iter/bpf_map" },
	{ "no_storage",
	  "the map hashed, which ITER_MAP names, is not a socket storage, which iter.s/bpf_" },
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
	CHECK_INT(hook_set_select(&object, 0, &options, &error), 0);
	CHECK_INT(iter_map_check(&object, &error), want ? -EINVAL : 0);
	if (want)
		CHECK_HAS(error.text, want);
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	for (size_t i = 0; i < COUNT_OF(CASES); i++)
		check("tests/bpf/iter_map_mistakes.bpf.o", CASES[i].option, CASES[i].want);
	check("tests/bpf/iter_map.bpf.o", "all of them", NULL);
	check("tests/bpf/sample.bpf.o", "optional", NULL);
	file_helper_done(&files);
	return testing_end();
}
