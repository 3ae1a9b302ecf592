/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCAN_H
#define EBPF_SCAN_H

#include "object/object.h"
#include "util/message.h"

#include "bpf/lib/service.h"

#include <stddef.h>
#include <stdint.h>

/* Has the kernel meet all processes that it has not met, and list those of this mode, as records of
 * so many bytes (take may be NULL). Errors of object_walk(). */
int scan_run(struct object *object, enum scan_mode mode, size_t size,
	     void (*take)(void *to, const void *record), void *to, struct error *error);

/* The engine's word on one process. */
struct scan_order {
	uint32_t pid;
	struct assignment assignment;
};

/* Has the kernel carry out all that there are, in order, as many at a time as its map holds; a process
 * that has ended meanwhile is not found, nor is its successor. Errors of object_walk(), or what the
 * kernel says. */
int scan_assign(struct object *object, const struct scan_order *orders, size_t count,
		struct error *error);

#endif
