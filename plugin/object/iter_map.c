/* SPDX-License-Identifier: MIT */
/*
 * Iterators over a map. The kernel wants the map when the iterator is attached; libbpf, which
 * attaches by the section, does not pass it.
 */
#include "iter_map.h"

#include "annotation.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define ITER_MAP_TAG "iter_map:"

/* A section of iterators over maps, and the types of maps that it accepts. */
struct walker {
	const char *section;
	uint64_t types;
	const char *wants;
};

#define T(type) (1ULL << (type))

static const struct walker WALKERS[] = {
	{ "bpf_map_elem",
	  T(BPF_MAP_TYPE_HASH) | T(BPF_MAP_TYPE_LRU_HASH) | T(BPF_MAP_TYPE_PERCPU_HASH) |
		  T(BPF_MAP_TYPE_LRU_PERCPU_HASH) | T(BPF_MAP_TYPE_ARRAY) |
		  T(BPF_MAP_TYPE_PERCPU_ARRAY),
	  "a hash or an array" },
	{ "bpf_sk_storage_map", T(BPF_MAP_TYPE_SK_STORAGE), "a socket storage" },
};

static const struct walker *walker_of(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	const char *slash = strchr(section, '/');

	if (strncmp(section, "iter/", 5) != 0 && strncmp(section, "iter.s/", 7) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(WALKERS) / sizeof(*WALKERS); i++)
		if (!strcmp(slash + 1, WALKERS[i].section))
			return &WALKERS[i];
	return NULL;
}

bool program_iterates_map(const struct bpf_program *program)
{
	return walker_of(program) != NULL;
}

static int check_iterator(const struct object *object, const struct bpf_program *program,
			  struct error *error)
{
	const struct walker *walker = walker_of(program);
	const char *map_name = annotation_of_program(object->bpf, program, ITER_MAP_TAG, 0);
	const char *name = bpf_program__name(program);
	const struct bpf_map *map;

	if (!walker && !map_name)
		return 0;
	if (!walker)
		return error_set(error, -EINVAL,
				 "program %s: ITER_MAP is for SEC(\"iter/bpf_map_elem\") and "
				 "SEC(\"iter/bpf_sk_storage_map\")",
				 name);
	if (!map_name)
		return error_set(error, -EINVAL,
				 "program %s: it does not say which map it walks over; put "
				 "ITER_MAP(MAP) after SEC(\"%s\")",
				 name, bpf_program__section_name(program));
	if (annotation_of_program(object->bpf, program, ITER_MAP_TAG, 1))
		return error_set(error, -EINVAL, "program %s: two ITER_MAP tags", name);
	map = object_map(object, map_name);
	if (!map)
		return error_set(
			error, -EINVAL,
			"program %s: the object has no map \"%.60s\", which ITER_MAP names", name,
			map_name);
	if (bpf_map__type(map) >= 64 || !(walker->types >> bpf_map__type(map) & 1))
		return error_set(
			error, -EINVAL,
			"program %s: the map %s, which ITER_MAP names, is not %s, which %s needs",
			name, map_name, walker->wants, bpf_program__section_name(program));
	return 0;
}

int iter_map_check(const struct object *object, struct error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		int status = 0;

		if (bpf_program__autoload(program))
			status = check_iterator(object, program, error);
		if (status)
			return status;
	}
	return 0;
}

struct bpf_link *iter_map_attach(const struct object *object, const struct bpf_program *program)
{
	const char *map_name = annotation_of_program(object->bpf, program, ITER_MAP_TAG, 0);
	const struct bpf_map *map = object_map(object, map_name ? map_name : "");
	union bpf_iter_link_info info = { .map.map_fd = map ? (uint32_t)bpf_map__fd(map) : 0 };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));

	if (!map) {
		errno = EINVAL;
		return NULL;
	}
	return bpf_program__attach_iter(program, &options);
}
