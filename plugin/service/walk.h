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

/* The only walk over all tasks. It calls those programs of probes that have a WALK tag, see
 * bpf/lib/walk.bpf.h, and is run when a reading needs it. */
struct walk {
	pthread_rwlock_t lock; /* exclusive while walking, shared while reading; innermost lock */
	struct bpf_link *link;
	int states, programs; /* descriptors of the maps `walks` and `walk_visitors` */
	struct walk_visitor {
		const struct object *object;
		int program;
		const char *name;
		bool stopped; /* it kept tasks from later visitors, and is no longer called */
	} visitors[WALK_VISITORS_MAX];
	size_t count;
	struct idle idle;
	uint64_t begun_ns; /* start of the last walk, CLOCK_BOOTTIME; 0: walk again at once */
	uint64_t cost_ns;  /* CPU time of the last walk, 0: none yet; atomic */
};

/* Sizes the maps of the engine's own object, before load. */
int walk_prepare(const struct object *own, struct error *error);

/* After load, before attach. Errors of bpf(2) and mmap(2), or -ENOENT. */
int walk_open(struct walk *walk, const struct object *own, struct error *error);

/* Excludes the programs with a WALK tag from what attach attaches. -EINVAL: such a program is no iterator
 * over tasks. */
int walk_exempt(const struct object *object, struct error *error);

/* After load: the next walk and all later ones call these programs with every task. The object must not
 * move until walk_remove(). -ENOSPC: there are too many; or an error of bpf(2). */
int walk_add(struct walk *walk, const struct object *object, struct error *error);
void walk_remove(struct walk *walk, const struct object *object);

/* Makes sure that the last walk is at most half an interval old and started later than after_ns, of
 * CLOCK_BOOTTIME; no other walk starts before walk_release(). Does nothing for an object without WALK
 * programs. Not to be called while an object joins or leaves. Errors of object_run(); -EAGAIN: a program of
 * the object was stopped. After an error there is no walk_release(). */
int walk_acquire(struct walk *walk, const struct object *object, double interval_s,
		 uint64_t after_ns, struct error *error);
void walk_release(struct walk *walk, const struct object *object);

/* Between the two: the time for which the rows of the object hold: the start of the walk, or now_ns for an
 * object without WALK programs. */
uint64_t walk_as_of(const struct walk *walk, const struct object *object, uint64_t now_ns);

void walk_done(struct walk *walk);

#endif
