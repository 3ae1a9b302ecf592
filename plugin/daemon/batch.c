/* SPDX-License-Identifier: MIT */
/*
 * What a reading has to tell, kept until nothing is locked: who takes values may take his time.
 * Items lie behind each other: a head, the values, three strings.
 */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

struct head {
	size_t size; /* of all of the item */
	size_t count;
	size_t type, instance; /* where they begin, in the strings */
};

static size_t padded(size_t size)
{
	return (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static bool make_room(struct batch *batch, size_t size)
{
	size_t room = batch->room ? batch->room : 4096;
	char *grown;

	while (room - batch->size < size)
		room *= 2;
	if (room == batch->room)
		return true;
	grown = realloc(batch->bytes, room);
	if (!grown)
		return false;
	batch->bytes = grown;
	batch->room = room;
	return true;
}

void batch_add(struct batch *batch, const struct batch_item *item)
{
	size_t subject = strlen(item->subject) + 1, type = strlen(item->type) + 1;
	size_t instance = strlen(item->instance) + 1, values = item->count * sizeof(*item->values);
	struct head head = {
		.size = padded(sizeof(head) + values + subject + type + instance),
		.count = item->count,
		.type = subject,
		.instance = subject + type,
	};
	char *at;

	if (!make_room(batch, head.size)) {
		batch->failed = true;
		return;
	}
	at = batch->bytes + batch->size;
	batch->size += head.size;
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memcpy(at, item->values, values);
	at += values;
	memcpy(at, item->subject, subject);
	memcpy(at + head.type, item->type, type);
	memcpy(at + head.instance, item->instance, instance);
}

void batch_each(const struct batch *batch, void (*take)(void *to, const struct batch_item *item),
		void *to)
{
	const struct head *head;

	for (size_t at = 0; at < batch->size; at += head->size) {
		const struct value *values;
		const char *strings;

		head = (const struct head *)(batch->bytes + at);
		values = (const struct value *)(head + 1);
		strings = (const char *)(values + head->count);
		take(to, &(struct batch_item){
				 .subject = strings,
				 .type = strings + head->type,
				 .instance = strings + head->instance,
				 .values = values,
				 .count = head->count,
			 });
	}
}

void batch_done(struct batch *batch)
{
	free(batch->bytes);
	*batch = (struct batch){ 0 };
}
