/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STACKS_H
#define EBPF_STACKS_H

/* Stacks as numbers of code, each once, until they are written. */

#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACKS_MAX 65536
#define STACKS_WORDS_MAX (4U << 20) /* numbers of all stacks */

/* What must be equal, in addition to the numbers, for values to be added up. No padding: it is
 * hashed and compared as bytes. */
struct stacks_key {
	uint32_t view;    /* the caller's number */
	uint32_t service; /* the caller's number */
	uint32_t syscall; /* as in a record */
	uint32_t is_text; /* there is one number, that of a text */
	char comm[16];    /* padded with zeros */
};

struct stacks_entry {
	struct stacks_key key;
	uint32_t begin, count; /* its numbers in `word`, innermost first; count may be 0 */
	uint64_t value;
};

struct stacks {
	struct stacks_entry *entry;
	uint32_t count, room;
	uint32_t *word;
	uint32_t used, size;
	struct index index;
};

/* 0 or -ENOMEM. */
int stacks_init(struct stacks *stacks);

/* Adds a value to a stack. -ENOSPC: there are too many; -ENOMEM. */
int stacks_add(struct stacks *stacks, const struct stacks_key *key, const uint32_t *numbers,
	       uint32_t count, uint64_t value);

/* Sets the values of a view's stacks to 0. */
void stacks_drop(struct stacks *stacks, uint32_t view);

/* Removes all stacks. */
void stacks_clear(struct stacks *stacks);

void stacks_done(struct stacks *stacks);

#endif
