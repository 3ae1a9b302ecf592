/* SPDX-License-Identifier: MIT */
/*
 * Which maps of the engine's own object another object shares. Nothing is loaded: maps that agree
 * lack only the descriptor.
 */
#include "tests/unit/testing.h"

#include "plugin/object/engine_object.h"
#include "plugin/object/shared_map.h"

#include <errno.h>

static struct file_helper files;

static struct object owner;

static struct bpf_map *map_named(const struct object *object, const char *name)
{
	return bpf_object__find_map_by_name(object->bpf, name);
}

static char *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "r");
	char *bytes = malloc(1 << 20);

	if (!file || !bytes)
		abort();
	*ret_size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void open_sample(struct object *object)
{
	struct error error = { "" };

	CHECK_INT(object_open(object, testing_built("tests/bpf/sample.bpf.o"), &files, &error), 0);
}

/* Opens the sample with each occurrence of a text replaced by another one of its length. */
static void open_with(struct object *object, const char *text, const char *by)
{
	struct error error = { "" };
	unsigned replaced = 0;
	size_t size;
	char *bytes = read_file(testing_built("tests/bpf/sample.bpf.o"), &size);

	for (char *at = bytes; at + strlen(text) < bytes + size; at++)
		if (!memcmp(at, text, strlen(text) + 1)) {
			memcpy(at, by, strlen(by));
			replaced++;
		}
	CHECK_INT(replaced > 0, 1);
	CHECK_INT(object_open_memory(object, bytes, size, "sample.bpf.o", &error), 0);
	free(bytes);
}

static void check_refused(struct object *object, const char *want)
{
	struct error error = { "" };

	CHECK_INT(shared_maps_reuse(&owner, object, &error), -EINVAL);
	CHECK_HAS(error.text, "cannot share the map service_tasks: ");
	CHECK_HAS(error.text, want);
	CHECK_HAS(error.text, "; compile the object against the headers");
	object_done(object);
}

static void test_agreed(void)
{
	struct error error = { "" };
	struct object object;
	struct bpf_map *map;

	CASE("agreed");
	open_sample(&object);
	bpf_object__for_each_map(map, object.bpf)
	{
		bool is_common = !strcmp(bpf_map__name(map), "service_tasks") ||
				 !strcmp(bpf_map__name(map), "service_moves");

		CHECK_INT(map_is_shared(&object, map), is_common);
	}
	/* The missing descriptor is the only error. */
	CHECK_INT(shared_maps_reuse(&owner, &object, &error), -EINVAL);
	CHECK_HAS(error.text, "service_tasks: File descriptor in bad state");
	object_done(&object);
}

static void test_differences(void)
{
	struct object object;

	CASE("a larger value");
	open_sample(&object);
	bpf_map__set_value_size(map_named(&object, "service_tasks"), 32);
	check_refused(&object, "its value size is 32, the plugin's 24");
	CASE("a larger key");
	open_sample(&object);
	bpf_map__set_key_size(map_named(&object, "service_tasks"), 8);
	check_refused(&object, "its key size is 8, the plugin's 4");
	CASE("another type");
	open_sample(&object);
	bpf_map__set_type(map_named(&object, "service_tasks"), BPF_MAP_TYPE_HASH);
	check_refused(&object, "its type of map is 1, the plugin's 29");
	CASE("another layout");
	open_with(&object, "shared:2", "shared:7");
	check_refused(&object, "its layout is number 7, the plugin's 2");
}

/* Neither a tag alone nor a name alone shares a map. */
static void test_one_side(void)
{
	struct error error = { "" };
	struct object object;

	CASE("a map that is not shared");
	open_with(&object, "service_tasks", "process_names");
	CHECK_INT(shared_maps_reuse(&owner, &object, &error), -EINVAL);
	CHECK_HAS(error.text, "map process_names: the plugin shares no map of this name");
	object_done(&object);
	CASE("names without tags");
	CHECK_INT(object_open(&object, testing_built("tests/bpf/hostile_names.bpf.o"), &files,
			      &error),
		  0);
	CHECK_INT(shared_maps_reuse(&owner, &object, &error), 0);
	CHECK_UINT(bpf_map__value_size(map_named(&object, "service_tasks")), 8);
	CHECK_INT(map_is_shared(&object, map_named(&object, "assignments")), 0);
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	struct error error = { "" };

	if (engine_object_open(&owner, &error)) {
		printf("%s\n", error.text);
		return 1;
	}
	test_agreed();
	test_differences();
	test_one_side();
	object_done(&owner);
	file_helper_done(&files);
	return testing_end();
}
