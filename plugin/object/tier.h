/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TIER_H
#define EBPF_TIER_H

#include "config/config.h"
#include "object.h"

/* The tiers of an opened object that its Probe block (NULL: there is none) allows to try, as
 * bits, 0: none; and in ret_options what would allow more, as variant_tier_options() says it, or "".
 * A Tier or Option of the block that the object does not have costs one message and itself. */
uint32_t tiers_find(const struct object *object, const char *probe,
		    const struct probe_config *block, char *ret_options, size_t size);

#endif
