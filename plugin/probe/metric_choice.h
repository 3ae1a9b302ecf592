/* SPDX-License-Identifier: MIT */
#ifndef EBPF_METRIC_CHOICE_H
#define EBPF_METRIC_CHOICE_H

#include "config/config.h"
#include "object/object.h"
#include "schema/selection.h"

/* Reads Collect and Ignore of a Probe block for an opened object. Globs that match no metric are
 * logged and ignored. The selection refers to block and config. */
void metric_choice_read(struct selection *ret_selection, const struct object *object,
			const char *probe, const struct probe_config *block,
			const struct config *config, type_lookup *lookup);

/* Has the opened object any metric to choose from, given the block's Option lines? */
bool metric_choice_is_possible(const struct object *object, const struct probe_config *block,
			       const struct config *config, type_lookup *lookup);

#endif
