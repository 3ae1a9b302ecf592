/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SHARE_H
#define EBPF_SHARE_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Maps that one object lends to others: those with a SHARED tag, see bpf/lib/metric.bpf.h. */

/* Does this map of an object whose maps are shared belong to another one? */
bool share_is_borrowed(const struct object *object, const struct bpf_map *map);

/* Gives the object, before load, those maps of the owner, which is loaded, that both declare as
 * shared. -EINVAL: they do not agree on what is in them, or the owner has no such map. */
int share_maps(const struct object *owner, struct object *object, struct error *error);

#endif
