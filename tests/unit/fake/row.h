/* SPDX-License-Identifier: MIT */
#ifndef ROW_H
#define ROW_H

#include "plugin/table/table.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

/* Types that a member may have. */
enum row_type {
	ROW_U8,
	ROW_U16,
	ROW_U32,
	ROW_U64,
	ROW_S8,
	ROW_S16,
	ROW_S32,
	ROW_S64,
	ROW_BOOL,
	ROW_U128,
	ROW_ENUM,
	ROW_ENUM64,
	ROW_ALIAS, /* typedef const volatile typedef u64 */
	ROW_MOMENTS,
	ROW_MOMENTS_ALIAS,
	ROW_HIST,
	ROW_SHORT_MOMENTS, /* of this name, but of another size */
	ROW_SHORT_HIST,
	ROW_OTHER_STRUCT,
	ROW_UNION,
	ROW_DOUBLE,
	ROW_POINTER,
	ROW_ARRAY,
	ROW_LOOP,    /* a typedef of itself */
	ROW_NOWHERE, /* a typedef of a type that does not exist */
	ROW_VOID,
	ROW_TYPES,
};

struct row_member {
	const char *name;
	enum row_type type;
	uint32_t offset;   /* bytes */
	const char *tag;   /* as METRIC() has it, or NULL */
	uint32_t bit;      /* added to the offset */
	uint32_t bit_size; /* 0: no bit field */
	const char *state; /* as DEFAULT() has it, or NULL */
};

#define MEMBER(n, kind, at, text)                                        \
	{                                                                \
		.name = n, .type = ROW_##kind, .offset = at, .tag = text \
	}
#define OFF(n, kind, at, text)                                                           \
	{                                                                                \
		.name = n, .type = ROW_##kind, .offset = at, .tag = text, .state = "off" \
	}
#define BITS(n, kind, at, text, first, size)                                            \
	{                                                                               \
		.name = n, .type = ROW_##kind, .offset = at, .tag = text, .bit = first, \
		.bit_size = size                                                        \
	}

/* BTF with a struct "row"; its tags come before it, and the last first, if
 * `reverse`. Aborts where libbpf refuses. To be freed with btf__free(). */
struct btf *row_btf(const struct row_member *members, size_t count, uint32_t size, bool reverse,
		    uint32_t *ret_row);

/* A table of rows in ordinary memory, as after table_start(): table_read() and
 * publish_table() work, table_done() frees. Returns the rows. */
void *row_table(struct table *table, const struct row_member *members, size_t count, uint32_t size,
		uint32_t rows, enum subject_kind subject);

#endif
