/* SPDX-License-Identifier: MIT */
/*
 * The values of a reading, copied until no lock is held: a receiver may take any time.
 *
 * Items lie one behind the other: a head, the values, three strings. The memory is mapped, not
 * allocated, so that it goes back to the system after each reading; malloc() would keep it for the
 * whole interval.
 */
#include "batch.h"

#include <string.h>
#include <sys/mman.h>

#define ROOM_FIRST 65536

struct item_head {
	size_t size; /* of the whole item, padding included */
	size_t count;
	bool previous;
	size_t type, instance; /* offsets of these strings behind the subject */
};

static size_t padded_size(size_t size)
{
	return (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static bool reserve_bytes(struct batch *batch, size_t size)
{
	size_t room = batch->room ? batch->room : ROOM_FIRST;
	char *grown;

	while (room - batch->size < size)
		room *= 2;
	if (room == batch->room)
		return true;
	if (batch->room)
		grown = mremap(batch->bytes, batch->room, room, MREMAP_MAYMOVE);
	else
		grown = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	if (grown == MAP_FAILED)
		return false;
	batch->bytes = grown;
	batch->room = room;
	return true;
}

void batch_add(struct batch *batch, const struct batch_item *item)
{
	size_t subject = strlen(item->subject) + 1, type = strlen(item->type) + 1;
	size_t instance = strlen(item->instance) + 1, values = item->count * sizeof(*item->values);
	struct item_head head = {
		.size = padded_size(sizeof(head) + values + subject + type + instance),
		.count = item->count,
		.previous = item->previous,
		.type = subject,
		.instance = subject + type,
	};
	char *at;

	if (!reserve_bytes(batch, head.size)) {
		batch->failed = true;
		return;
	}
	at = batch->bytes + batch->size;
	batch->size += head.size;
	batch->series += !item->previous;
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memcpy(at, item->values, values);
	at += values;
	memcpy(at, item->subject, subject);
	memcpy(at + head.type, item->type, type);
	memcpy(at + head.instance, item->instance, instance);
}

void batch_each(const struct batch *batch, void (*visit)(void *to, const struct batch_item *item),
		void *to)
{
	const struct item_head *head;

	for (size_t at = 0; at < batch->size; at += head->size) {
		const struct value *values;
		const char *strings;

		head = (const struct item_head *)(batch->bytes + at);
		values = (const struct value *)(head + 1);
		strings = (const char *)(values + head->count);
		visit(to, &(struct batch_item){
				  .subject = strings,
				  .type = strings + head->type,
				  .instance = strings + head->instance,
				  .values = values,
				  .count = head->count,
				  .previous = head->previous,
			  });
	}
}

void batch_done(struct batch *batch)
{
	if (batch->room)
		munmap(batch->bytes, batch->room);
	*batch = (struct batch){ 0 };
}
