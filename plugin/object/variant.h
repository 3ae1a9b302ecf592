/* SPDX-License-Identifier: MIT */
#ifndef EBPF_VARIANT_H
#define EBPF_VARIANT_H

#include "config/config.h"
#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARIANT_OPTIONS_MAX 32       /* more are not told */
#define VARIANT_BY_CPU_TAG "by_cpu:" /* of a table whose rows an option tells apart by CPU */

/* Which tiers the object has, as bits; bit 0 alone for one without tiers. */
uint32_t variant_tiers(const struct object *object);

/* Whether this tier has no program without further options than those in the list (which may be
 * NULL); in ret_text which, as few as possible, as `Option "a" and Option "b"`, else "". */
bool variant_tier_options(const struct object *object, unsigned tier, const struct strings *options,
			  char *ret_text, size_t size);

/* The names of the object's options, which are its own; returns how many. */
size_t variant_options(const struct object *object, const char *ret_options[VARIANT_OPTIONS_MAX]);

/* Programs of another tier, or of an option that is not in the list, will not
 * be loaded, maps of such get one entry; variables option_NAME of those
 * that are in it are set. What libbpf says of a map that cannot be made smaller. */
int variant_select(struct object *object, unsigned tier, const struct strings *options,
		   struct error *error);

/* Is the object to be loaded only where the configuration says so? */
bool variant_is_off(const struct object *object);

/* Is a map of no option, or of one in the list? */
bool variant_has_map(const struct object *object, const struct bpf_map *map,
		     const struct strings *options);

#endif
