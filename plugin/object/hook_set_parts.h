/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_SET_PARTS_H
#define EBPF_HOOK_SET_PARTS_H

#include "config/config.h"
#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_OPTIONS_MAX 32       /* more are not listed in messages */
#define OBJECT_BY_CPU_TAG "by_cpu:" /* on a table whose rows an option splits by CPU */

/* Returns the hook sets of the object, as bits; only bit 0: it has none. */
uint32_t hook_sets_declared(const struct object *object);

/* Returns whether every program of this hook set needs options that are not in the list (which may
 * be NULL). ret_text: the fewest options that are enough for one, as `Option "a" and Option "b"`,
 * or "". */
bool hook_set_missing_options(const struct object *object, unsigned hook_set,
			      const struct strings *options, char *ret_text, size_t size);

/* Lists the names of the object's options, which stay the object's. Returns how many. */
size_t object_options(const struct object *object, const char *ret_options[OBJECT_OPTIONS_MAX]);

/* Selects a hook set and the options in the list: programs of others will not be loaded, maps of
 * others get one entry, variables option_NAME of the options are set. Returns an error of libbpf if
 * a map cannot be made smaller. */
int hook_set_select(struct object *object, unsigned hook_set, const struct strings *options,
		    struct error *error);

/* Is the object loaded only if the configuration says so? */
bool object_is_off_by_default(const struct object *object);

/* Is the map of no option, or of one in the list? */
bool object_map_is_enabled(const struct object *object, const struct bpf_map *map,
			   const struct strings *options);

#endif
