/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_SERIES_H
#define EBPF_TABLE_SERIES_H

#include "config/config.h"
#include "service/registry.h"
#include "table_state.h"
#include "util/message.h"

/* Takes the series of a table of a probe, and from command names the names of its rows.
 * -EEXIST: another table has one of them, or two are one. The error names both. */
int registry_add(struct registry *registry, struct subjects *subjects, const void *owner,
		 const char *probe, const struct table *table, const struct config *config,
		 struct error *error);

#endif
