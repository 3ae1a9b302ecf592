/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PERF_EVENT_H
#define EBPF_PERF_EVENT_H

#include "attachment.h"
#include "object/object.h"
#include "util/message.h"

/* Attaches a loaded program of the object to its perf event (HOOK_PERF) on all online CPUs or on
 * none. The links are the object's. Returns 0 or a negative errno. */
int perf_event_attach(struct object *object, const struct attachment *attachment,
		      struct error *error);

#endif
