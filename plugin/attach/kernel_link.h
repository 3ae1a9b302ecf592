/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_LINK_H
#define EBPF_KERNEL_LINK_H

#include "attachment_item.h"
#include "object/object.h"
#include "util/message.h"

#include <stddef.h>

/* Attaches those of the attachments that are of no file: functions of the kernel, many by one link
 * where it has that, tracepoints and perf events. One that cannot be is noted, see attachment_message.h; the links are
 * the object's. -ENOMEM. */
int kernel_links_open(struct object *object, struct attachment *const *items, size_t count,
		      struct error *error);

#endif
