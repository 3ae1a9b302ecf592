/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_RESPONSE_H
#define EBPF_SERVICE_RESPONSE_H

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

/* Response options of Service blocks, as a map of the kernel. The service config->services[i] has the row
 * SERVICE_FIRST + i. */

/* Sizes the map, before load; errors of libbpf. */
int responses_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills it, after load; errors of bpf(2). */
int responses_fill(const struct config *config, struct object *object, struct error *error);

#endif
