/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCAN_H
#define EBPF_SCAN_H

#include "object/object.h"
#include "util/message.h"

#include "bpf/lib/services/service.h"

#include <stddef.h>
#include <stdint.h>

/* Has the kernel classify all processes that it has not seen yet, and passes those that fit the mode to
 * add(to, ...), as records of `size` bytes. add may be NULL. Errors of object_walk(). */
int scan_run(struct object *object, enum scan_mode mode, size_t size,
	     void (*add)(void *to, const void *record), void *to, struct error *error);

/* What the kernel shall do with one process. */
struct scan_order {
	uint32_t pid;
	struct assignment assignment;
};

/* Has the kernel carry out all orders, in order, in batches of the size of its map. An order for a process
 * that has exited is dropped; its start time keeps it from a successor with the same pid. Errors of
 * object_walk() and bpf(2). */
int scan_assign(struct object *object, const struct scan_order *orders, size_t count,
		struct error *error);

#endif
