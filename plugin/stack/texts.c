/* SPDX-License-Identifier: MIT */
/*
 * Numbers for names of services and for lines that are texts, see stacks.h.
 */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

int texts_init(struct texts *texts)
{
	return index_init(&texts->index, TEXTS_MAX);
}

static bool is_same_text(const void *of, uint32_t number, const void *wanted)
{
	return !strcmp(((const struct texts *)of)->text[number], wanted);
}

static bool grow_texts(struct texts *texts)
{
	uint32_t room = texts->room ? 2 * texts->room : 64;
	char **grown;

	if (texts->count < texts->room)
		return true;
	if (texts->count == TEXTS_MAX)
		return false;
	grown = reallocarray(texts->text, room, sizeof(*grown));
	if (!grown)
		return false;
	texts->text = grown;
	texts->room = room;
	return true;
}

uint32_t texts_number(struct texts *texts, const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = index_hash(&texts->index, 0, text, length);
	uint32_t number = index_find(&texts->index, hash, is_same_text, texts, text);
	char *copy;

	if (number != INDEX_NONE)
		return number;
	if (texts->bytes + length >= TEXTS_BYTES_MAX || !grow_texts(texts))
		return INDEX_NONE;
	copy = strdup(text);
	if (!copy)
		return INDEX_NONE;
	texts->bytes += length + 1;
	texts->text[texts->count] = copy;
	index_add(&texts->index, hash, texts->count);
	return texts->count++;
}

void texts_clear(struct texts *texts)
{
	for (uint32_t i = 0; i < texts->count; i++)
		free(texts->text[i]);
	texts->count = 0;
	texts->bytes = 0;
	index_clear(&texts->index);
}

void texts_done(struct texts *texts)
{
	if (texts->index.slot)
		texts_clear(texts);
	free(texts->text);
	index_done(&texts->index);
	*texts = (struct texts){ 0 };
}
