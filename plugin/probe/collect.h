/* SPDX-License-Identifier: MIT */
#ifndef EBPF_COLLECT_H
#define EBPF_COLLECT_H

#include "config/config.h"
#include "object/object.h"
#include "schema/selection.h"

/* Collect and Ignore of a Probe block for what an opened object has. Tells which
 * patterns fit nothing, and are ignored. The selection refers to block and config. */
void collect_read(struct selection *ret_selection, const struct object *object, const char *probe,
		  const struct probe_config *block, const struct config *config,
		  type_lookup *lookup);

/* Has an opened object metrics at all, with the options of the block? */
bool collect_has_metrics(const struct object *object, const struct probe_config *block,
			 const struct config *config, type_lookup *lookup);

#endif
