/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_ARGUMENT_H
#define EBPF_FUNCTION_ARGUMENT_H

#include "bpf/lib/function.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the argument of a block, which must use one. The source of a marker's argument stays
 * FUNCTION_UNKNOWN: it is elsewhere at each location. Returns false if the argument is unavailable,
 * and then `why` says the reason. */
bool function_argument_find(const struct function_config *block,
			    struct function_argument *ret_found, char *why, size_t size);

/* Arguments of markers that have been found so far. Different locations of markers may share one. */
struct argument_locations {
	struct function_argument item[ARGUMENT_LOCATIONS_MAX]; /* values of the map, from index 1 */
	uint32_t count;
	int map; /* its descriptor */
};

/* Finds the block's argument at a location of its marker, where sys/sdt.h writes `arguments`, and
 * puts it into the map. Returns its index there; 0 if it is unavailable or the map is full, and then
 * `why` says so. */
uint32_t argument_locations_find(struct argument_locations *locations,
				 const struct function_config *block, const char *arguments,
				 char *why, size_t size);

#endif
