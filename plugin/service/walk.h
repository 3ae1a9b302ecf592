/* SPDX-License-Identifier: MIT */
#ifndef EBPF_WALK_H
#define EBPF_WALK_H

#include "bpf/lib/walk.h"
#include "idle.h"
#include "object/object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one walk over tasks, and the programs of probes that it calls: those with a WALK tag, see
 * bpf/lib/walk.bpf.h. It is run when a reading needs it. */
struct walk {
	pthread_rwlock_t lock; /* who walks has it alone, who reads with others; taken last */
	struct bpf_link *link;
	int states, programs; /* descriptors of the maps `walks` and `walk_visitors` */
	struct walk_visitor {
		const struct object *object;
		int program;
		const char *name;
		bool stopped; /* it kept others from their tasks, and is called no more */
	} visitors[WALK_VISITORS_MAX];
	size_t count;
	struct idle idle;
	uint64_t begun_ns; /* of CLOCK_BOOTTIME, 0: the next one is needed at once */
	uint64_t cost_ns;  /* CPU time of the last one, 0: there was none; atomic */
};

/* Sizes the maps of the engine's own object, before load. */
int walk_prepare(const struct object *own, struct error *error);

/* After load, before attach. What the kernel says, or -ENOENT. */
int walk_open(struct walk *walk, const struct object *own, struct error *error);

/* Takes the programs with a WALK tag out of what attach attaches. -EINVAL: one is no walk over
 * tasks. */
int walk_exempt(const struct object *object, struct error *error);

/* After load: from now on these programs are called, in the next walk with every task. The object
 * stays where it is until walk_leave(). -ENOSPC: there are too many, or what the kernel says. */
int walk_join(struct walk *walk, const struct object *object, struct error *error);
void walk_leave(struct walk *walk, const struct object *object);

/* Sees to a walk that is at most half an interval old and has begun later than after_ns, of
 * CLOCK_BOOTTIME, and that none begins before walk_put(); nothing for an object without programs
 * that it calls. Not while others join or leave. Errors of object_run(), -EAGAIN for an object
 * whose program has been stopped; then there is nothing to put. */
int walk_take(struct walk *walk, const struct object *object, double interval_s, uint64_t after_ns,
	      struct error *error);
void walk_put(struct walk *walk, const struct object *object);

/* Between the two: since when what the object tells is as it is, now_ns or when the walk began. */
uint64_t walk_as_of(const struct walk *walk, const struct object *object, uint64_t now_ns);

void walk_done(struct walk *walk);

#endif
