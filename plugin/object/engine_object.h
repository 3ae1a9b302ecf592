/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ENGINE_OBJECT_H
#define EBPF_ENGINE_OBJECT_H

#include "object.h"
#include "util/message.h"

/* Opens the engine's own object. It is embedded in the plugin, so their versions cannot differ.
 * Errors of object_open_memory(). */
int engine_object_open(struct object *object, struct error *error);

#endif
