/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FRAME_H
#define EBPF_FRAME_H

#include "object/object.h"

#include <linux/bpf.h>
#include <stddef.h>

/* Returns the size in bytes of the largest frame of a program's functions, as far as its
 * instructions show it. 0 if there is a tail call: then the verifier uses no private stack. */
unsigned frame_size(const struct bpf_insn *instructions, size_t count);

/* Logs which programs of a loaded object, attached to functions and markers of files, have a frame
 * that another thread may overwrite, see bpf/lib/preempt.bpf.h. Call after attachments_add(). */
void frame_check(const struct object *object, const char *probe);

#endif
