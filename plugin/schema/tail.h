/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAIL_H
#define EBPF_TAIL_H

#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>

/* Finds the members that the columns of a schema name with tail=, in the row's type. -EINVAL: a
 * member is missing, has the wrong type, or is used otherwise; -ENOMEM. */
int tails_find(struct schema *schema, const struct btf *btf, const struct btf_type *row,
	       const char *map, struct error *error);

#endif
