/* SPDX-License-Identifier: MIT */
/* What a parser of labels and columns needs to know of a map. */
#ifndef EBPF_MAP_SHAPE_H
#define EBPF_MAP_SHAPE_H

#include <stdint.h>

/* A map as its object declares it. Types are BTF ids; 0: unknown. */
struct map_shape {
	const char *name;
	uint32_t key_type, value_type;
	uint32_t key_size, value_size; /* bytes */
};

#endif
