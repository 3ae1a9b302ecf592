/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACH_LINE_H
#define EBPF_ATTACH_LINE_H

#include "config/config.h"
#include "object/object.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* `block` may be NULL: then there are no lines. */

/* Logs, once, each Attach line for which the opened object has no program. */
void attach_lines_check(const struct object *object, const char *probe,
			const struct probe_config *block);

/* Does a line attach this program to a function of the kernel? Then it cannot be loaded for
 * uprobe.multi. */
bool attach_lines_use_kernel(const struct object *object, const struct bpf_program *program,
			     const struct probe_config *block);

/* Adds the lines to the object's attachments and logs those that cannot be used. The block outlives
 * the object. */
void attach_lines_add(struct object *object, const char *probe, const struct probe_config *block);

#endif
