/* SPDX-License-Identifier: MIT */
#ifndef EBPF_IMAGE_H
#define EBPF_IMAGE_H

#include "object.h"
#include "util/message.h"

/* Opens the engine's own object, which is a part of the plugin: both are of one version. Errors
 * of object_open_memory(). */
int image_open(struct object *object, struct error *error);

#endif
