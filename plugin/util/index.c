/* SPDX-License-Identifier: MIT */
/*
 * Open addressing. Entries cannot be removed one by one: the caller clears the index and adds the
 * others again.
 */
#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int index_init(struct index *index, size_t count)
{
	size_t size = 4;

	while (size < 2 * count)
		size *= 2;
	index->slot = calloc(size, sizeof(*index->slot));
	index->mask = (uint32_t)(size - 1);
	if (getrandom(&index->seed, sizeof(index->seed), GRND_NONBLOCK) < 0)
		index->seed = 0xcbf29ce484222325;
	return index->slot ? 0 : -ENOMEM;
}

/* FNV-1a, with the high bits folded into the low ones. */
uint64_t index_hash(const struct index *index, uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	hash ^= index->seed;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

uint32_t index_find(const struct index *index, uint64_t hash,
		    bool (*is_wanted)(const void *of, uint32_t number, const void *wanted),
		    const void *of, const void *wanted)
{
	for (uint32_t i = (uint32_t)hash & index->mask; index->slot[i]; i = (i + 1) & index->mask)
		if (is_wanted(of, index->slot[i] - 1, wanted))
			return index->slot[i] - 1;
	return INDEX_NONE;
}

void index_add(struct index *index, uint64_t hash, uint32_t number)
{
	uint32_t i = (uint32_t)hash & index->mask;

	while (index->slot[i])
		i = (i + 1) & index->mask;
	index->slot[i] = number + 1;
}

void index_clear(struct index *index)
{
	memset(index->slot, 0, ((size_t)index->mask + 1) * sizeof(*index->slot));
}

void index_done(struct index *index)
{
	free(index->slot);
	*index = (struct index){ 0 };
}
