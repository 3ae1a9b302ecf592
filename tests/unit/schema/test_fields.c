/* SPDX-License-Identifier: MIT */
/*
 * Members and the words that they are read from, by the tags of objects.
 */
#include "tests/unit/testing.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/schema/fields.h"
#include "plugin/table/table.h"

#include <errno.h>

static struct bpf_object *open_object(const char *name)
{
	struct bpf_object *object = bpf_object__open(testing_built(name));

	if (!object) {
		printf("%s: cannot be opened\n", name);
		exit(1);
	}
	return object;
}

/* A map, and a part of its error. */
static void test_mistakes(void)
{
	static const struct {
		const char *map, *want;
		int status;
	} cases[] = {
		{ "path", "map path: FILE: \"/etc/passwd\" is neither below /proc or /sys",
		  -EINVAL },
		{ "process", "rows of processes come from no FILE", -EINVAL },
		{ "service", "rows of services come from files of their cgroups", -EINVAL },
		{ "sharded", "sharded, via and cpu do not go with FILE", -EINVAL },
		{ "word", "map word, member n: with pairs a FIELD is \"LINE WORD\"", -EINVAL },
		{ "integer", "map integer: a key of rows of a FILE is a struct", -EINVAL },
		{ "outside", "rows of services come from files of their cgroups", -EINVAL },
		{ "untold", "map untold, member m: has no FIELD", -EINVAL },
		{ "narrow", "map narrow, member n: a FIELD is an integer of 8 bytes", -EINVAL },
		{ "untold_key", "map untold_key, member name: has no FIELD", -EINVAL },
		{ "service_field_key",
		  "map service_field_key, member service: no word of a FILE is a service",
		  -EINVAL },
		{ "star", "no part of the FILE has an asterisk", -EINVAL },
		{ "fileless", "map fileless, member n: has a FIELD, but the map has no FILE",
		  -EINVAL },
		{ "fine", "", 1 },
		{ "many", "", 1 },
	};
	struct bpf_object *object = open_object("tests/bpf/text_mistakes.bpf.o");

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, cases[i].map);
		const struct row_counts counts = { .services = 4, .keys = 16 };
		struct error error = { "" };
		struct table table;

		CASE("%s", cases[i].map);
		CHECK_INT(table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type,
				     NULL, &error),
			  cases[i].status);
		CHECK_HAS(error.text, cases[i].want);
		if (cases[i].status == 1 && !strcmp(cases[i].map, "many")) {
			CHECK_INT(table_resize(&table, &counts, object, &error), -E2BIG);
			CHECK_HAS(error.text, "it has 16385 rows, and a table has 1 to 16384");
		} else if (cases[i].status == 1) {
			CHECK_INT(table_resize(&table, &counts, object, &error), 0);
			CHECK_INT(bpf_map__autocreate(map), 0);
			CHECK_INT(table_memory(&table) > 1 << 20, 1);
		}
		table_done(&table);
	}
	bpf_object__close(object);
}

static void test_fields(void)
{
	struct bpf_object *object = open_object("tests/bpf/text.bpf.o");
	struct error error = { "" };
	struct table table;

	CASE("a key of words, and what they are");
	CHECK_INT(table_open(&table, bpf_object__find_map_by_name(object, "softirqs"),
			     bpf_object__btf(object), NULL, dispatch_type, NULL, &error),
		  1);
	CHECK_UINT(table.fields->count, 3);
	CHECK_TEXT(table.fields->text, "/proc/softirqs");
	CHECK_TEXT(table.fields->field[1].member, "cpu");
	CHECK_INT(table.fields->field[1].of_key && !table.fields->field[1].is_text, 1);
	CHECK_INT(table.fields->field[2].of_key && table.fields->field[2].is_text, 1);
	CHECK_UINT(table.fields->field[2].offset, 4);
	CHECK_UINT(table.fields->field[2].size, 16);
	CHECK_INT(table.fields->by_key && !table.fields->by_service, 1);
	CHECK_UINT(table.schema.labels.key_size, table.fields->key_size + 8);
	table_done(&table);
	CASE("rows of services");
	CHECK_INT(table_open(&table, bpf_object__find_map_by_name(object, "pressures"),
			     bpf_object__btf(object), NULL, dispatch_type, NULL, &error),
		  1);
	CHECK_TEXT(table.fields->text, "cgroup:cpu.pressure");
	CHECK_INT(table.fields->by_service && !table.fields->by_key, 1);
	CHECK_INT(table.fields->field[2].is_gauge && !table.fields->field[0].is_gauge, 1);
	CHECK_UINT(table.fields->tag[2].decimals, 2);
	CHECK_INT(table_follows(&table), 0);
	table_done(&table);
	bpf_object__close(object);
}

int main(void)
{
	libbpf_set_print(NULL);
	test_mistakes();
	test_fields();
	return testing_end();
}
