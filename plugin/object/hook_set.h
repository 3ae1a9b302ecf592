/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_SET_H
#define EBPF_HOOK_SET_H

#include "config/config.h"
#include "object.h"

/* Returns the hook sets that may be tried according to the Probe block (NULL: none), as bits; 0: no
 * hook set. ret_options: the options that would allow more, in the format of
 * hook_set_missing_options(), or "". A HookSet or Option that the object does not have is logged
 * once and ignored. */
uint32_t hook_sets_find(const struct object *object, const char *probe,
			const struct probe_config *block, char *ret_options, size_t size);

#endif
