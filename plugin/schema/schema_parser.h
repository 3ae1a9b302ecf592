/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_PARSER_H
#define EBPF_SCHEMA_PARSER_H

#include "config/table_config.h"
#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>

/* A parser that fills a schema, from tags or from a block. It refers to the members of the row by
 * number. */
struct schema_parser {
	struct schema *schema;
	const char *map;
	type_lookup *lookup;
	struct error *error;
	const char *(*name)(const struct schema_parser *r, int member);
	/* The number of the member with this name; -1: there is none. */
	int (*find)(const struct schema_parser *r, const char *name);
	/* Sets kind, offset and size of a member's column. */
	int (*locate)(const struct schema_parser *r, int member, struct column *ret_column);
	const struct btf *btf;      /* of the object, or NULL */
	const struct btf_type *row; /* a struct, or NULL */
	const struct table_config *block;
};

/* Sets the error to what is wrong with this member. Returns -EINVAL. */
int schema_bad(const struct schema_parser *r, const char *member, const char *why);

/* Adds a column for a member, with the text of a METRIC. -EINVAL, -E2BIG, -ENOENT: no such type,
 * -ENOMEM. */
int schema_add(const struct schema_parser *r, int member, const char *text);

/* Called when all columns have been added: adds those that they refer to, and makes the metrics.
 * -EINVAL, -E2BIG, -ENOENT, -ENOMEM. */
int schema_finish(const struct schema_parser *r);

/* The number of the member with this name in the row's BTF type; -1: there is none. */
int schema_find_member(const struct schema_parser *r, const char *name);

#endif
