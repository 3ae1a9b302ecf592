/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STACKS_H
#define EBPF_STACKS_H

#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACKS_MAX 65536
#define STACKS_WORDS_MAX (4U << 20) /* numbers of all of them */

/* What must be the same for values to add up, beside the numbers. No padding. */
struct stacks_key {
	uint32_t view;    /* the caller's number */
	uint32_t service; /* likewise */
	uint32_t syscall; /* as in a record */
	uint32_t is_text; /* the numbers are those of a text alone */
	char comm[16];    /* with zeros behind */
};

struct stacks_entry {
	struct stacks_key key;
	uint32_t begin, count; /* of its numbers, the innermost first; count 0 among the words */
	uint64_t value;
};

/* Stacks as numbers of code, each once. */
struct stacks {
	struct stacks_entry *entry;
	uint32_t count, room;
	uint32_t *word;
	uint32_t used, size;
	struct index index;
};

/* 0 or -ENOMEM. */
int stacks_init(struct stacks *stacks);

/* Adds to one. -ENOSPC: there are too many; -ENOMEM. */
int stacks_add(struct stacks *stacks, const struct stacks_key *key, const uint32_t *numbers,
	       uint32_t count, uint64_t value);

/* Those of a view count for nothing any more. */
void stacks_drop(struct stacks *stacks, uint32_t view);

/* None is left. */
void stacks_clear(struct stacks *stacks);

void stacks_done(struct stacks *stacks);

#endif
