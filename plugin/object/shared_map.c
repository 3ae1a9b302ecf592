/* SPDX-License-Identifier: MIT */
/*
 * Shared maps. A map is shared only if both objects declare it with a SHARED tag and agree on type,
 * sizes and layout number: each side accesses it by its own struct. The name is not enough.
 */
#include "shared_map.h"

#include "annotation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHARED_TAG "shared:"

static const char *map_layout(const struct object *object, const struct bpf_map *map)
{
	return annotation_of_map(object->bpf, map, SHARED_TAG, 0);
}

bool map_is_shared(const struct object *object, const struct bpf_map *map)
{
	return map_layout(object, map) != NULL;
}

static int refuse_map(const struct bpf_map *map, const char *why, struct error *error)
{
	return error_set(error, -EINVAL,
			 "cannot share the map %s: %s; compile the object against the headers "
			 "that this version of the plugin has installed",
			 bpf_map__name(map), why);
}

static int compare_maps(const struct object *object, const struct bpf_map *map,
			const struct object *owner, const struct bpf_map *ours, struct error *error)
{
	const char *layout = map_layout(object, map), *our_layout = map_layout(owner, ours);
	const struct {
		const char *what;
		uint32_t its, ours;
	} sizes[] = {
		{ "type of map", bpf_map__type(map), bpf_map__type(ours) },
		{ "key size", bpf_map__key_size(map), bpf_map__key_size(ours) },
		{ "value size", bpf_map__value_size(map), bpf_map__value_size(ours) },
	};
	char why[256];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i].its == sizes[i].ours)
			continue;
		snprintf(why, sizeof(why), "its %s is %u, the plugin's %u", sizes[i].what,
			 sizes[i].its, sizes[i].ours);
		return refuse_map(map, why, error);
	}
	if (!strcmp(layout, our_layout))
		return 0;
	snprintf(why, sizeof(why), "its layout is number %.32s, the plugin's %.32s", layout,
		 our_layout);
	return refuse_map(map, why, error);
}

static int reuse_map(const struct object *owner, const struct object *object, struct bpf_map *map,
		     struct error *error)
{
	const struct bpf_map *ours = bpf_object__find_map_by_name(owner->bpf, bpf_map__name(map));
	int status;

	if (!ours || !map_layout(owner, ours))
		return refuse_map(map, "the plugin shares no map of this name", error);
	status = compare_maps(object, map, owner, ours, error);
	if (status)
		return status;
	status = bpf_map__reuse_fd(map, bpf_map__fd(ours));
	return status ? refuse_map(map, strerror(-status), error) : 0;
}

int shared_maps_reuse(const struct object *owner, struct object *object, struct error *error)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		int status = map_is_shared(object, map) ? reuse_map(owner, object, map, error) : 0;

		if (status)
			return status;
	}
	return 0;
}
