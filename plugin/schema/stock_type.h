/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STOCK_TYPE_H
#define EBPF_STOCK_TYPE_H

#include "schema.h"

/* The line of collectd's own types.db; NULL: the plugin does not use this type. */
const char *stock_type_line(const char *type);

/* A type_lookup in those lines. */
int stock_type_lookup(const char *type, struct metric_type *ret_type);

/* Does a type have the same data sources, of the same kinds? */
bool stock_type_fits(const struct metric_type *stock, const struct metric_type *type);

#endif
