/* SPDX-License-Identifier: MIT */
/*
 * Kernel memory of the maps of a loaded object, as the kernel reports it.
 */
#include "map_memory.h"

#include "shared_map.h"
#include "util/kernel_file.h"

#include <stdio.h>

/* bpf_map_info does not contain it. */
static uint64_t map_memory(int fd)
{
	char path[64], info[4096];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	length = kernel_file_read(path, info, sizeof(info));
	return length > 0 ? kernel_file_memlock(info, (size_t)length) : 0;
}

uint64_t map_memory_of(const struct object *object, const struct object *owner)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		if (bpf_map__fd(map) >= 0 && !(owner && map_is_shared(object, map)))
			bytes += map_memory(bpf_map__fd(map));
	}
	return bytes;
}
