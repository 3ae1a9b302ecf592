/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_H
#define EBPF_KERNEL_H

#include "attachment.h"
#include "object/object.h"
#include "util/message.h"

#include <stddef.h>

/* Attaches the items whose hooks are in the kernel: functions (many by one link where the kernel
 * has kprobe.multi), tracepoints and perf events. A failure is recorded per item, see
 * attachment_message.h. The links are the object's. Returns 0 or -ENOMEM. */
int kernel_links_open(struct object *object, struct attachment *const *items, size_t count,
		      struct error *error);

#endif
