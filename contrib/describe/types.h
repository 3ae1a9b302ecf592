/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TYPES_H
#define EBPF_TYPES_H

#include "plugin/schema/schema.h"

/* Opens a file like collectd's types.db for types_lookup(). A negative errno: it cannot be read. */
int types_open(const char *path);

/* A type_lookup without a daemon. */
int types_lookup(const char *type, struct metric_type *ret_type);

#endif
