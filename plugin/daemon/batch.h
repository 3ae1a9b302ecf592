/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BATCH_H
#define EBPF_BATCH_H

#include "schema/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of a data source; the kind says which member is set. */
struct value {
	enum source_kind kind;
	union {
		uint64_t counter; /* COUNTER and ABSOLUTE */
		int64_t derive;
		double gauge;
	};
};

/* Value lists that wait to be dispatched. */
struct batch {
	char *bytes;
	size_t size, room;
	size_t series; /* items of this reading, previous ones not counted */
	bool failed;   /* an item was lost for lack of memory */
};

/* A value list. In batch_each() the strings and values belong to the batch. */
struct batch_item {
	const char *subject;
	const char *type;
	const char *instance;
	const struct value *values;
	size_t count;
	bool previous; /* the values are of the previous reading */
};

/* Appends a copy of an item. Without memory for it sets `failed`. */
void batch_add(struct batch *batch, const struct batch_item *item);

/* Calls `visit` for each item, in the order of batch_add(). */
void batch_each(const struct batch *batch, void (*visit)(void *to, const struct batch_item *item),
		void *to);

void batch_done(struct batch *batch);

#endif
