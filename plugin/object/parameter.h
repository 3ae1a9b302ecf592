/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PARAMETER_H
#define EBPF_PARAMETER_H

#include "config/config.h"
#include "object.h"
#include "util/number.h"

/* Tells each Parameter of a Probe block (NULL: there is none) that cannot be set in the
 * opened object, once. */
void parameters_check(const struct object *object, const char *probe,
		      const struct probe_config *block);

/* Sets the others, before load. */
void parameters_set(struct object *object, const struct probe_config *block);

/* The text of a RANGE tag without the prefix: LOW..HIGH. */
bool parameter_range(const char *text, struct number *ret_low, struct number *ret_high);

#endif
