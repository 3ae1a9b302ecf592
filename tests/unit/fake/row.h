/* SPDX-License-Identifier: MIT */
/*
 * Rows as BTF describes them, and tables of such rows in ordinary memory. Tests make tables by
 * these functions only: row.c alone sets members of struct table and of the structs in it.
 */
#ifndef ROW_H
#define ROW_H

#include "bpf/lib/hist.h"
#include "plugin/table/table.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

/* Types of a member. */
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
	ROW_LOOP,    /* a typedef that refers to itself */
	ROW_MISSING, /* a typedef of a type that does not exist */
	ROW_VOID,
	ROW_TYPES,
};

struct row_member {
	const char *name;
	enum row_type type;
	uint32_t offset;   /* bytes */
	const char *tag;   /* as METRIC() has it, or NULL */
	uint32_t bit;      /* from `offset` on */
	uint32_t bit_size; /* 0: no bit field */
	const char *state; /* as DEFAULT() has it, or NULL */
};

/* Bytes of a member of ROW_HIST. */
#define HIST_SIZE (HIST_CELLS * 8)

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

/* BTF with a struct "row". With `reverse` its tags precede it, the last one first: their order
 * is not guaranteed. Aborts if libbpf refuses a type. To be freed with btf__free(). */
struct btf *row_btf(const struct row_member *members, size_t count, uint32_t size, bool reverse,
		    uint32_t *ret_row);

/* A table of rows in ordinary memory, as after table_start(): table_read() and
 * publish_table() work, table_done() frees. Returns the rows. */
void *row_table(struct table *table, const struct row_member *members, size_t count, uint32_t size,
		uint32_t rows, enum subject_kind subject);

/* Changes such a table before its first reading. */

/* Its rows become `rows` rows of `shards` shards each; no more in all than they were. */
void row_table_shards(struct table *table, uint32_t rows, uint32_t shards);

/* Its rows become slots: via[ROW] is the slot of a service or process, owners[SLOT] its row + 1.
 * The caller owns both arrays. */
void row_table_slots(struct table *table, uint64_t *via, uint64_t *owners);

/* Services have these slots by the engine's grant: those below `reserved` are of Service blocks,
 * those from `user_first` on are also for names that users control. To be followed by slots_start(). */
void row_table_grants(struct table *table, uint32_t reserved, uint32_t user_first);

void row_table_subject(struct table *table, enum subject_kind kind);

/* The rows are named by keys: `source` lists them, at most `shown_max` names of a group have
 * series. To be followed by keys_start(). */
void row_table_keys(struct table *table, const struct labels *labels, const struct source *source,
		    uint32_t shown_max);

/* Replaces what row_table_keys() has set; the keys start empty. */
void row_table_shown(struct table *table, uint32_t shown_max);

/* As a Label line: only names that fit one of the globs are shown. The caller owns them. */
void row_table_choose(struct table *table, size_t label, const struct strings *globs);

/* The labels of the table's keys; series are named by them. The last one: none. */
void row_table_labels(struct table *table, const struct labels *labels);

/* Which of its series each metric has, bits as in series.h. */
void row_table_series(struct table *table, uint32_t series);

/* The text in place of the type instance of a column's series. */
void row_table_instance(struct table *table, size_t column, const char *instance);

void row_table_column_kind(struct table *table, size_t column, enum column_kind kind);

#endif
