/* SPDX-License-Identifier: MIT */
/*
 * Stacks from rings, until their functions are named. Each is stored once, so that memory does not
 * depend on how often it comes.
 */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int stacks_init(struct stacks *stacks)
{
	return index_init(&stacks->index, STACKS_MAX);
}

struct stack_lookup {
	const struct stacks_key *key;
	const uint32_t *numbers;
	uint32_t count;
};

static uint64_t hash_stack(const struct stacks *stacks, const struct stack_lookup *lookup)
{
	uint64_t hash = index_hash(&stacks->index, 0, lookup->key, sizeof(*lookup->key));

	return index_hash(&stacks->index, hash, lookup->numbers,
			  lookup->count * sizeof(*lookup->numbers));
}

static bool is_same_numbers(const void *of, uint32_t number, const void *wanted)
{
	const struct stacks *stacks = of;
	const struct stacks_entry *entry = &stacks->entry[number];
	const struct stack_lookup *lookup = wanted;

	return entry->count == lookup->count &&
	       !memcmp(&entry->key, lookup->key, sizeof(entry->key)) &&
	       (!entry->count || !memcmp(&stacks->word[entry->begin], lookup->numbers,
					 entry->count * sizeof(*lookup->numbers)));
}

static int grow_entries(struct stacks *stacks)
{
	uint32_t room = stacks->room ? 2 * stacks->room : 256;
	struct stacks_entry *grown;

	if (stacks->count < stacks->room)
		return 0;
	if (stacks->count == STACKS_MAX)
		return -ENOSPC;
	grown = reallocarray(stacks->entry, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	stacks->entry = grown;
	stacks->room = room;
	return 0;
}

static int grow_words(struct stacks *stacks, uint32_t count)
{
	uint32_t size = 2 * stacks->size + count;
	uint32_t *grown;

	if (count > STACKS_WORDS_MAX - stacks->used)
		return -ENOSPC;
	if (count <= stacks->size - stacks->used)
		return 0;
	grown = reallocarray(stacks->word, size, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	stacks->word = grown;
	stacks->size = size;
	return 0;
}

int stacks_add(struct stacks *stacks, const struct stacks_key *key, const uint32_t *numbers,
	       uint32_t count, uint64_t value)
{
	struct stack_lookup lookup = { key, numbers, count };
	uint64_t hash = hash_stack(stacks, &lookup);
	uint32_t number = index_find(&stacks->index, hash, is_same_numbers, stacks, &lookup);
	int status = 0;

	if (number != INDEX_NONE) {
		uint64_t *sum = &stacks->entry[number].value;

		*sum = *sum + value < value ? UINT64_MAX : *sum + value;
		return 0;
	}
	status = grow_entries(stacks);
	status = status ?: grow_words(stacks, count);
	if (status)
		return status;
	stacks->entry[stacks->count] = (struct stacks_entry){
		.key = *key,
		.begin = stacks->used,
		.count = count,
		.value = value,
	};
	if (count)
		memcpy(&stacks->word[stacks->used], numbers, count * sizeof(*numbers));
	stacks->used += count;
	index_add(&stacks->index, hash, stacks->count++);
	return 0;
}

void stacks_drop(struct stacks *stacks, uint32_t view)
{
	for (uint32_t i = 0; i < stacks->count; i++)
		if (stacks->entry[i].key.view == view)
			stacks->entry[i].value = 0;
}

void stacks_clear(struct stacks *stacks)
{
	stacks->count = stacks->used = 0;
	index_clear(&stacks->index);
}

void stacks_done(struct stacks *stacks)
{
	free(stacks->entry);
	free(stacks->word);
	index_done(&stacks->index);
	*stacks = (struct stacks){ 0 };
}
