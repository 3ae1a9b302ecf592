/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MAP_MEMORY_H
#define EBPF_MAP_MEMORY_H

#include "object.h"

#include <stdint.h>

/* Bytes of kernel memory of the maps of a loaded object, without those that it has from `owner`
 * (which may be NULL); of a map that does not say, 0. */
uint64_t map_memory_of(const struct object *object, const struct object *owner);

#endif
