/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BATCH_H
#define EBPF_BATCH_H

#include "schema/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value, of the kind that its data source has. */
struct value {
	enum source_kind kind;
	union {
		uint64_t counter; /* COUNTER and ABSOLUTE */
		int64_t derive;
		double gauge;
	};
};

/* Lists of values that wait to be dispatched. */
struct batch {
	char *bytes;
	size_t size, room;
	size_t series; /* that have a value of this reading */
	bool failed;   /* there was no memory for one */
};

/* A list of values and the names of its series, which are the batch's. */
struct batch_item {
	const char *subject;
	const char *type;
	const char *instance;
	const struct value *values;
	size_t count;
	bool previous; /* they are of the reading before */
};

/* Copies an item to the end. */
void batch_add(struct batch *batch, const struct batch_item *item);

/* Gives each item in order. */
void batch_each(const struct batch *batch, void (*take)(void *to, const struct batch_item *item),
		void *to);

void batch_done(struct batch *batch);

#endif
