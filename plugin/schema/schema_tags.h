/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_TAGS_H
#define EBPF_SCHEMA_TAGS_H

#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

/* Reads the tags of the value type of a map. A struct without tags gives a
 * schema without columns. The error names map, member and word: -EINVAL of a tag or a member,
 * -ENOENT: a data source has no member, -E2BIG: there are too many, -ENOMEM. */
int schema_read(struct schema *schema, const struct btf *btf, const char *map, uint32_t value_type,
		type_lookup *lookup, struct error *error);

/* The SUBJECT tag of the map's variable; -ENOENT: it has none, -EINVAL: it is wrong. */
int schema_subject(const struct btf *btf, const char *map, struct subject_tag *ret_subject,
		   struct error *error);

#endif
