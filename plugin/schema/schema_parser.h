/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_PARSER_H
#define EBPF_SCHEMA_PARSER_H

#include "config/table_config.h"
#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>

/* Who makes a schema of what is said of the members of a row, by tags or by a block: what both have in
 * common is in schema.c. Members have numbers. */
struct schema_parser {
	struct schema *schema;
	const char *map;
	type_lookup *lookup;
	struct error *error;
	const char *(*name)(const struct schema_parser *r, int member);
	/* The number of the member of this name, -1: there is none. */
	int (*find)(const struct schema_parser *r, const char *name);
	/* Kind and place of a member. */
	int (*place)(const struct schema_parser *r, int member, struct column *ret_column);
	const struct btf *btf;      /* of the object, or NULL */
	const struct btf_type *row; /* a struct, or NULL */
	const struct table_config *block;
};

/* -EINVAL, and why it is not this member. */
int schema_bad(const struct schema_parser *r, const char *member, const char *why);

/* Adds the column of a member of which this METRIC is said. */
int schema_add(const struct schema_parser *r, int member, const char *text);

/* All columns are there: finds what they are divided by, and makes metrics of them. */
int schema_end(const struct schema_parser *r);

/* The number of a member of the row's type in BTF, -1: there is none of this name. */
int schema_find_member(const struct schema_parser *r, const char *name);

#endif
