/* SPDX-License-Identifier: MIT */
/*
 * Which source reads the rows of a map, by its type.
 */
#include "source.h"

#include "object/mapping.h"

#include <linux/bpf.h>

static bool is_mapped(const struct bpf_map *map)
{
	return bpf_map__map_flags(map) & BPF_F_MMAPABLE;
}

const struct source *source_of(const struct bpf_map *map)
{
	switch ((int)bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
		return is_mapped(map) ? &source_array : &source_copied;
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return &source_copied;
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return &source_hash;
	default:
		return NULL;
	}
}

bool source_is_percpu(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);

	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* Values are 8-byte aligned in mapped arrays and in copies of per-CPU maps; the kernel copies all
 * others without gaps. */
size_t source_stride(const struct bpf_map *map)
{
	if (source_of(map) != &source_array && !source_is_percpu(map))
		return bpf_map__value_size(map);
	return mapping_stride(map);
}
