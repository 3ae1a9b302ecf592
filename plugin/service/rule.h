/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RULE_H
#define EBPF_RULE_H

#include "config/config.h"
#include "object/object.h"
#include "system/message.h"

#include <stdint.h>

/* What a Service block asks for, handed to the kernel. The row of the service at
 * config->services[i] is SERVICE_FIRST + i. */

/* Sizes the rules' maps, before load; what libbpf says. */
int rules_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills the rules' maps, after load and before attach; -ENAMETOOLONG: a directory of a cgroup's
 * path is too long, or what the kernel says. */
int rules_fill(const struct config *config, struct object *object, struct error *error);

#endif
