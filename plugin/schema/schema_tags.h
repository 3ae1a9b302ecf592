/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_TAGS_H
#define EBPF_SCHEMA_TAGS_H

#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

/* Reads the tags of a map's value type. A struct without tags gives a schema without columns. The
 * error names map, member and word: -EINVAL: a tag or a member is wrong; -ENOENT: a data source has
 * no member; -E2BIG: there are too many members; -ENOMEM. */
int schema_read(struct schema *schema, const struct btf *btf, const char *map, uint32_t value_type,
		type_lookup *lookup, struct error *error);

/* Reads the SUBJECT tag of the map's variable. -ENOENT: there is none; -EINVAL: it is wrong. */
int schema_subject(const struct btf *btf, const char *map, struct subject_tag *ret_subject,
		   struct error *error);

#endif
