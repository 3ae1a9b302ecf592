/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TYPE_LINE_H
#define EBPF_TYPE_LINE_H

#include "schema.h"

/* Parses a line of types.db that is about the type of this name, and changes its text. 1: it is
 * about another type; -ENOENT: it is wrong; -E2BIG: it has too many data sources. */
int type_line_parse(char *line, const char *name, struct metric_type *ret_type);

#endif
