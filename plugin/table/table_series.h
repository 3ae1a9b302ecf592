/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_SERIES_H
#define EBPF_TABLE_SERIES_H

#include "config/config.h"
#include "service/registry.h"
#include "table_state.h"
#include "util/message.h"

/* Registers the series of a probe's table, and reserves the names of its rows, so that command
 * names cannot have them. -EEXIST: another table has one of the series, or two of its own are the
 * same; the error names both. -ENOMEM. */
int table_register(struct registry *registry, struct subjects *subjects, const void *owner,
		   const char *probe, const struct table *table, const struct config *config,
		   struct error *error);

#endif
