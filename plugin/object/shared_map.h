/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SHARED_MAP_H
#define EBPF_SHARED_MAP_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Maps that one object shares with others: those with a SHARED tag, see collectd-ebpf-objects(7). */

/* Has the map a SHARED tag? In an object that is not the owner it is then the owner's. */
bool map_is_shared(const struct object *object, const struct bpf_map *map);

/* Makes the object use the shared maps of the owner, which is loaded; before load. Returns 0 or
 * -EINVAL: they disagree about a map, or the owner does not share it. */
int shared_maps_reuse(const struct object *owner, struct object *object, struct error *error);

#endif
