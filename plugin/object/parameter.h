/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PARAMETER_H
#define EBPF_PARAMETER_H

#include "config/config.h"
#include "object.h"
#include "util/number.h"

/* Logs, once, each Parameter of a Probe block (NULL: none) that cannot be set in the opened
 * object. */
void parameters_check(const struct object *object, const char *probe,
		      const struct probe_config *block);

/* Sets the other parameters, before load. */
void parameters_set(struct object *object, const struct probe_config *block);

/* Parses LOW..HIGH, the text of a RANGE tag without its prefix. */
bool parameter_range(const char *text, struct number *ret_low, struct number *ret_high);

#endif
