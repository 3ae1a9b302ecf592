/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RULE_H
#define EBPF_RULE_H

#include "config.h"
#include "message.h"
#include "service.h"

#include <stdint.h>

/* What a Service block asks for, handed to the kernel or resolved here. The
 * row of the service at config->services[i] is SERVICE_FIRST + i. */

/* Sizes the rules' maps, before load. */
int rules_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills the rules' maps, after load and before attach. */
int rules_fill(const struct config *config, struct object *object, struct error *error);

/* Do rules need /proc (ProcessMatch, PidFile)? */
bool rules_need_proc(const struct config *config);

/* After attach: meets the processes that ran before. */
int rules_start(struct services *services, struct error *error);

/* Meets those that were refused before, matches the processes that are new
 * against the rules that need /proc and has the kernel move those that are of
 * another service. Costs two look-ups where
 * nothing has changed. */
int rules_resolve(struct services *services, struct error *error);

#endif
