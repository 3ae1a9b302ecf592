/* SPDX-License-Identifier: MIT */
/*
 * Kernel memory of the maps of a loaded object, as the kernel reports it.
 */
#include "map_memory.h"

#include "share.h"
#include "util/pseudo.h"

#include <stdio.h>

/* bpf_map_info does not contain it. */
static uint64_t map_memory(int fd)
{
	char path[64], info[4096];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	length = pseudo_read(path, info, sizeof(info));
	return length > 0 ? pseudo_memlock(info, (size_t)length) : 0;
}

uint64_t map_memory_of(const struct object *object, const struct object *owner)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		if (bpf_map__fd(map) >= 0 && !(owner && share_is_borrowed(object, map)))
			bytes += map_memory(bpf_map__fd(map));
	}
	return bytes;
}
