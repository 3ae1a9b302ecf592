/* SPDX-License-Identifier: MIT */
#ifndef EBPF_INDEX_H
#define EBPF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

/* Numbers of things by a hash of what names them: of a fixed size, at most half of it in use. */
struct index {
	uint32_t *slot; /* number + 1, 0: free */
	uint32_t mask;
	uint64_t seed; /* who chooses the names does not know which of them meet */
};

/* For so many things. 0 or -ENOMEM. */
int index_init(struct index *index, size_t count);

/* Of several parts, one after the other; begins with 0. */
uint64_t index_hash(const struct index *index, uint64_t hash, const void *bytes, size_t size);

/* The first number of this hash that `is` says yes to, or INDEX_NONE. */
uint32_t index_find(const struct index *index, uint64_t hash,
		    bool (*is)(const void *of, uint32_t number, const void *wanted), const void *of,
		    const void *wanted);

void index_add(struct index *index, uint64_t hash, uint32_t number);

/* Nothing is in it then. */
void index_clear(struct index *index);

void index_done(struct index *index);

#endif
