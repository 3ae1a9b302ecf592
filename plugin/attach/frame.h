/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FRAME_H
#define EBPF_FRAME_H

#include "object/object.h"

#include <linux/bpf.h>
#include <stddef.h>

/* Bytes of the largest frame of a program's functions, as far as its instructions say; 0: it has a tail
 * call, and the verifier leaves its frames on the thread's stack. */
unsigned frame_size(const struct bpf_insn *instructions, size_t count);

/* Tells which programs of a loaded object, attached to functions and markers of files, have a frame
 * that threads may overwrite, see bpf/lib/preempt.bpf.h. After attachments_add(). */
void frame_check(const struct object *object, const char *probe);

#endif
