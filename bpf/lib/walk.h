/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The walk over tasks, as its visitors and the engine see it. Included by both sides.
 */
#ifndef WALK_H
#define WALK_H

#include <linux/types.h>

#define WALK_VISITORS_MAX 16

/* The entry of the map `walks`. */
struct walk_state {
	__u32 all; /* the next walk visits every task, because state of a sleeping one has changed */
	__u32 next; /* visitor to call next with this task */
};

#endif
