/* SPDX-License-Identifier: MIT */
/*
 * Hook sets and options of objects, and the programs and maps that belong to them. Nothing is
 * loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/string_list.h"

#include "plugin/object/hook_set_parts.h"

static struct file_helper files;

static bool loads(const struct object *object, const char *program)
{
	return bpf_program__autoload(bpf_object__find_program_by_name(object->bpf, program));
}

static void test_hook_sets(const char *path)
{
	static const struct {
		unsigned hook_set;
		bool no_load, no_attach, rename;
	} cases[] = { { 0, true, true, true },
		      { 1, true, false, false },
		      { 2, false, true, false },
		      { 3, false, false, true } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct object object;
		char text[64];

		CASE("hook set %u", cases[i].hook_set);
		CHECK_INT(object_open(&object, path, &files, &error), 0);
		CHECK_UINT(hook_sets_declared(&object), 1U << 1 | 1U << 2 | 1U << 3);
		CHECK_INT(hook_set_missing_options(&object, cases[i].hook_set, NULL, text,
						   sizeof(text)),
			  false);
		CHECK_INT(hook_set_select(&object, cases[i].hook_set, NULL, &error), 0);
		CHECK_INT(loads(&object, "sample_no_load"), cases[i].no_load);
		CHECK_INT(loads(&object, "sample_no_attach"), cases[i].no_attach);
		CHECK_INT(loads(&object, "sample_rename"), cases[i].rename);
		CHECK_INT(loads(&object, "sample_add"), true);
		CHECK_INT(loads(&object, "sample_optional"), false);
		CHECK_UINT(object.hook_set, cases[i].hook_set);
		object_done(&object);
		object_done(&object);
	}
}

static void test_options(const char *path)
{
	const struct strings options = STRINGS("optional"),
			     no_option = STRINGS("optional", "hook_sets");
	struct error error = { "" };
	struct object object;

	CASE("option");
	CHECK_INT(object_open(&object, path, &files, &error), 0);
	CHECK_INT(hook_set_select(&object, 0, &options, &error), 0);
	CHECK_INT(loads(&object, "sample_optional"), true);
	CASE("option that is none");
	CHECK_INT(hook_set_select(&object, 0, &no_option, &error), 0);
	object_done(&object);
}

/* An option may select a hook set, a map and a variable. */
static void test_option_parts(const char *path)
{
	static const struct {
		const char *option; /* NULL: none */
		const char *missing;
		uint32_t entries;
		bool loads, variable, chosen;
	} cases[] = {
		{ NULL, "Option \"costly\"", 1, false, false, false },
		{ "costly", "", 1, true, false, false },
		{ "extra", "Option \"costly\"", 3, false, true, true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct strings options =
			strings_of(&cases[i].option, cases[i].option != NULL);
		struct error error = { "" };
		struct object object;
		struct bpf_map *map;
		char missing[64];

		CASE("parts of an option, %zu", i);
		CHECK_INT(object_open(&object, path, &files, &error), 0);
		CHECK_INT(hook_set_missing_options(&object, 2, &options, missing, sizeof(missing)),
			  cases[i].missing[0] != '\0');
		CHECK_TEXT(missing, cases[i].missing);
		CHECK_UINT(hook_sets_declared(&object), 1U << 1 | 1U << 2);
		CHECK_INT(hook_set_missing_options(&object, 1, &options, missing, sizeof(missing)),
			  false);
		CHECK_INT(hook_set_select(&object, 2, &options, &error), 0);
		CHECK_INT(loads(&object, "costly_rename"), cases[i].loads);
		CHECK_INT(*(bool *)object_variable(&object, "option_extra", sizeof(bool)),
			  cases[i].variable);
		map = bpf_object__find_map_by_name(object.bpf, "costly_extra");
		CHECK_UINT(bpf_map__max_entries(map), cases[i].entries);
		CHECK_INT(object_map_is_enabled(&object, map, &options), cases[i].chosen);
		map = bpf_object__find_map_by_name(object.bpf, "costly");
		CHECK_INT(object_map_is_enabled(&object, map, NULL), true);
		object_done(&object);
	}
}

/* Of several programs in a hook set, the one that needs the fewest options decides. */
static void test_two_options(const char *path)
{
	static const struct {
		unsigned hook_set;
		const char *option; /* NULL: none */
		size_t size;
		const char *missing;
	} cases[] = {
		{ 1, NULL, 64, "Option \"costly\"" },
		{ 1, "costly", 64, "" },
		{ 1, "more", 64, "Option \"costly\"" },
		{ 2, NULL, 64, "Option \"more\" and Option \"costly\"" },
		{ 2, "more", 64, "Option \"costly\"" },
		{ 2, "costly", 64, "Option \"more\"" },
		{ 2, NULL, 8, "Option " },
		{ 3, NULL, 64, "" },
	};
	struct error error = { "" };
	struct object object;

	CASE("two options");
	CHECK_INT(object_open(&object, path, &files, &error), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct strings options =
			strings_of(&cases[i].option, cases[i].option != NULL);
		char missing[64];

		CASE("two options, hook set %u, %s", cases[i].hook_set,
		     cases[i].option ? cases[i].option : "none");
		CHECK_INT(hook_set_missing_options(&object, cases[i].hook_set, &options, missing,
						   cases[i].size),
			  cases[i].missing[0] != '\0');
		CHECK_TEXT(missing, cases[i].missing);
	}
	object_done(&object);
}

/* An object without hook sets. */
static void test_no_hook_sets(const char *path)
{
	struct error error = { "" };
	char text[64];
	const char *has[OBJECT_OPTIONS_MAX];
	struct object object;

	CASE("no hook sets");
	CHECK_INT(object_open(&object, path, &files, &error), 0);
	CHECK_UINT(hook_sets_declared(&object), 1);
	CHECK_INT(hook_set_missing_options(&object, 0, NULL, text, sizeof(text)), false);
	CHECK_UINT(object_options(&object, has), 0);
	CHECK_INT(hook_set_select(&object, 0, NULL, &error), 0);
	CHECK_INT(loads(&object, "service_exec"), true);
	object_done(&object);
}

int main(void)
{
	char sample[4096];

	snprintf(sample, sizeof(sample), "%s", testing_built("tests/bpf/sample.bpf.o"));
	file_helper_init(&files);
	test_hook_sets(sample);
	test_options(sample);
	test_option_parts(testing_built("tests/bpf/costly.bpf.o"));
	test_two_options(testing_built("tests/bpf/two_options.bpf.o"));
	test_no_hook_sets(testing_built("bpf/engine/service.bpf.o"));
	file_helper_done(&files);
	return testing_end();
}
