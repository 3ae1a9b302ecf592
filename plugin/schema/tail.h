/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAIL_H
#define EBPF_TAIL_H

#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>

/* Finds the members that columns of a schema name by tail, in the row's type. -EINVAL: one is not
 * there or of the wrong type, or has another use; -ENOMEM. */
int tails_find(struct schema *schema, const struct btf *btf, const struct btf_type *row,
	       const char *map, struct error *error);

#endif
