/* SPDX-License-Identifier: MIT */
/*
 * Maps of the kernel in the memory of this process: read without system calls.
 */
#include "mapping.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t mapping_stride(const struct bpf_map *map)
{
	return ((size_t)bpf_map__value_size(map) + 7) / 8 * 8;
}

/* A child that outlives this process must not keep a map alive. madvise() may fail: kernels can be
 * built without it. */
static void keep_from_children(const void *start, size_t size)
{
	madvise((void *)start, size, MADV_DONTFORK);
}

int mapping_open(struct mapping *mapping, const struct bpf_map *map, int protection)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (mapping_stride(map) * bpf_map__max_entries(map) + page - 1) / page * page;
	void *start = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);

	if (start == MAP_FAILED)
		return -errno;
	keep_from_children(start, size);
	*mapping = (struct mapping){ .start = start, .size = size };
	return 0;
}

void mapping_keep_from_children(struct bpf_map *map)
{
	size_t size;
	const void *start = bpf_map__initial_value(map, &size);

	if (start)
		keep_from_children(start, size);
}

int mapping_make(struct mapping *ret_mapping, size_t size)
{
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return -ENOMEM;
	*ret_mapping = (struct mapping){ .start = start, .size = size };
	return 0;
}

void mapping_done(struct mapping *mapping)
{
	if (mapping->size)
		munmap(mapping->start, mapping->size);
	*mapping = (struct mapping){ 0 };
}
