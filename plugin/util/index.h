/* SPDX-License-Identifier: MIT */
#ifndef EBPF_INDEX_H
#define EBPF_INDEX_H

/* A hash index: finds the number of an item by its key, which the caller stores. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

/* Of a fixed size, and at most half full. */
struct index {
	uint32_t *slot; /* number + 1; 0: free */
	uint32_t mask;
	uint64_t seed; /* random, so that whoever chooses the keys cannot make them collide */
};

/* For up to `count` items. 0 or -ENOMEM. */
int index_init(struct index *index, size_t count);

/* Hashes one part of a key; hash is the result for the part before, 0 at first. */
uint64_t index_hash(const struct index *index, uint64_t hash, const void *bytes, size_t size);

/* The first number with this hash for which is_wanted(of, number, wanted) is true, or
 * INDEX_NONE. */
uint32_t index_find(const struct index *index, uint64_t hash,
		    bool (*is_wanted)(const void *of, uint32_t number, const void *wanted),
		    const void *of, const void *wanted);

void index_add(struct index *index, uint64_t hash, uint32_t number);

/* Removes all numbers. */
void index_clear(struct index *index);

void index_done(struct index *index);

#endif
