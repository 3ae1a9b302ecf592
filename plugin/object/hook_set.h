/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_SET_H
#define EBPF_HOOK_SET_H

#include "config/config.h"
#include "hook_set_parts.h"
#include "object.h"

/* Returns the hook sets that may be tried according to the Probe block (NULL: none), as bits; 0: no
 * hook set. ret_options: the options that would allow more, in the format of
 * hook_set_missing_options(), or "". A HookSet or Option that the object does not have is logged
 * once and ignored. */
uint32_t hook_sets_find(const struct object *object, const char *probe,
			const struct probe_config *block, char *ret_options, size_t size);

/* Options of a Probe block that the object has, each once. The names stay the block's. */
struct usable_options {
	char *name[OBJECT_OPTIONS_MAX];
	uint32_t needed_by[OBJECT_OPTIONS_MAX]; /* hook sets that have no program without it, as
						 * bits */
	size_t count;
};

void usable_options_find(struct usable_options *options, const struct object *object,
			 const struct probe_config *block);

#endif
