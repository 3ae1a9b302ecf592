/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_RESPONSE_H
#define EBPF_SERVICE_RESPONSE_H

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

/* Response of Service blocks, handed to the kernel. The row of the service at config->services[i]
 * is SERVICE_FIRST + i. */

/* Sizes the map, before load; what libbpf says. */
int responses_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills it, after load; what the kernel says. */
int responses_fill(const struct config *config, struct object *object, struct error *error);

#endif
