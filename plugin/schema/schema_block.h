/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_BLOCK_H
#define EBPF_SCHEMA_BLOCK_H

#include "config/table_config.h"
#include "map_shape.h"
#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>

/* Reads a Table block, in place of schema_read(), schema_subject() and labels_read(), which read
 * tags. The error names map, member and word: -EINVAL: the block is wrong; -ENOENT: a data source
 * has no member; -E2BIG: there are too many members; -ENOMEM. */
int schema_describe(struct schema *schema, const struct btf *btf, const struct map_shape *map,
		    const struct table_config *block, type_lookup *lookup, struct error *error);

#endif
