/* SPDX-License-Identifier: MIT */
/*
 * How much memory the maps of an object will use, and one limit for all objects: an object decides
 * about kernel memory, for which the kernel can kill no process.
 */
#include "budget.h"

#include "shared_map.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define ELEMENT_SIZE 64 /* upper bound of the kernel's own data per element of a hash */
#define POINTER_SIZE 8
#define TYPE_USER_RINGBUF 31 /* since Linux 6.1 and 6.9, unknown to older headers */
#define TYPE_ARENA 33

uint64_t size_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t size_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t rounded(uint64_t size)
{
	return (size + 7) / 8 * 8;
}

uint64_t demand_of_map(const struct bpf_map *map, unsigned cpus)
{
	uint64_t entries = bpf_map__max_entries(map), key = rounded(bpf_map__key_size(map)),
		 value = rounded(bpf_map__value_size(map)), on_cpus = size_product(value, cpus);

	switch ((int)bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return size_product(entries, value);
	case BPF_MAP_TYPE_RINGBUF:
	case TYPE_USER_RINGBUF:
		return entries;
	case TYPE_ARENA:
		return size_product(entries, (uint64_t)sysconf(_SC_PAGESIZE));
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
		return 0;
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE:
		return size_product(entries, size_sum(on_cpus, POINTER_SIZE));
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return size_product(entries, size_sum(on_cpus, ELEMENT_SIZE + key));
	default:
		return size_product(entries, ELEMENT_SIZE + key + value);
	}
}

void demand_add(struct demand *demand, const char *map, uint64_t bytes)
{
	demand->bytes = size_sum(demand->bytes, bytes);
	if (bytes < demand->largest_bytes)
		return;
	demand->largest = map;
	demand->largest_bytes = bytes;
}

void demand_add_maps(struct demand *demand, const struct object *object, bool borrows)
{
	unsigned cpus = (unsigned)libbpf_num_possible_cpus();
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		if (bpf_map__autocreate(map) && !(borrows && map_is_shared(object, map)))
			demand_add(demand, bpf_map__name(map), demand_of_map(map, cpus));
	}
}

static uint64_t whole_mib(uint64_t bytes)
{
	return bytes / BUDGET_MIB + (bytes % BUDGET_MIB != 0);
}

int budget_reserve(struct budget *budget, const struct demand *demand, struct error *error)
{
	uint64_t left = budget->limit - budget->used;

	if (demand->bytes > left)
		return error_set(error, -ENOSPC,
				 "it needs %" PRIu64
				 " MiB of memory, most of it for the map %s, but of "
				 "MaxMemory %" PRIu64 " only %" PRIu64 " MiB are left; raise "
				 "MaxMemory or give that map fewer entries",
				 whole_mib(demand->bytes), demand->largest,
				 budget->limit / BUDGET_MIB, left / BUDGET_MIB);
	budget->used += demand->bytes;
	return 0;
}

void budget_release(struct budget *budget, uint64_t bytes)
{
	budget->used -= bytes;
}
