/* SPDX-License-Identifier: MIT */
/*
 * Iterators of an object that is opened, not loaded; maps_iterate() sets what they write.
 */
#ifndef FAKE_WALKS_H
#define FAKE_WALKS_H

#include "maps.h"

#include "plugin/object/object.h"

#include <stdlib.h>

/* Gives the object `count` iterators, without a link that it would own. */
static inline struct reading_walk *object_walked_by(struct object *object, size_t count)
{
	struct reading_walk *walks = calloc(count, sizeof(*walks));

	if (!walks)
		abort();
	for (size_t i = 0; i < count; i++)
		walks[i].link = maps_link();
	object->walks = walks;
	object->walk_count = count;
	return walks;
}

/* The first iterator of the object is run only while *when is not 0. */
static inline void object_walk_when(struct object *object, const uint32_t *when)
{
	object->walks[0].when = when;
}

/* Must be called before the object is closed, which would destroy the link. */
static inline void object_walks_forget(struct object *object, struct reading_walk *walks)
{
	object->walks = NULL;
	object->walk_count = 0;
	free(walks);
}

#endif
