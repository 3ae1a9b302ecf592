/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PUBLISH_H
#define EBPF_PUBLISH_H

#include "config/config.h"
#include "dispatch.h"
#include "table/table.h"

/* Dispatches the values of all subjects of a table that its last reading has fed. `probe` names the
 * rows of tables that are not about services. */
void publish_table(const struct table *table, const struct snapshot *snapshot, const char *probe,
		   const struct config *config, const struct dispatch *dispatch);

#endif
