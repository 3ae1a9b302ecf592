/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MAP_MEMORY_H
#define EBPF_MAP_MEMORY_H

#include "object.h"

#include <stdint.h>

/* Returns the bytes of kernel memory of a loaded object's maps, without those that it shares from
 * `owner` (which may be NULL). A map for which the kernel reports nothing counts as 0. */
uint64_t map_memory_of(const struct object *object, const struct object *owner);

#endif
