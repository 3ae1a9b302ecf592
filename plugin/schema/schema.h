/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_H
#define EBPF_SCHEMA_H

#include "buckets.h"
#include "label.h"
#include "tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOMENTS_CELLS 5      /* struct moments: count, sum, three limbs of squares */
#define SCHEMA_SOURCES_MAX 8 /* data sources of one type */

enum source_kind { SOURCE_COUNTER, SOURCE_GAUGE, SOURCE_DERIVE, SOURCE_ABSOLUTE };

/* A type as types.db has it. */
struct metric_type {
	size_t source_count;
	struct {
		char name[TAG_TEXT_MAX];
		enum source_kind kind;
	} source[SCHEMA_SOURCES_MAX];
};

/* Looks a type up; 0, -ENOENT, or -E2BIG for one of too many data sources. */
typedef int type_lookup(const char *type, struct metric_type *ret_type);

enum column_kind { COLUMN_INTEGER, COLUMN_MOMENTS, COLUMN_HIST, COLUMN_BUCKETS };

struct column {
	struct tag tag;
	enum column_kind kind;
	enum source_kind ds;
	bool is_signed;
	bool is_hidden;     /* no metric of its own: others need it */
	bool is_off;        /* by default: its member has DEFAULT(off) */
	bool is_gauge;      /* as it stands; all else grows */
	bool is_absent;     /* now, from all rows: it is not dispatched */
	uint32_t per;       /* column of tag.per */
	uint32_t where;     /* column of tag.where, and one; 0: none */
	uint32_t moments;   /* cells of columns of moments before this one */
	uint32_t offset;    /* in the row, bytes */
	uint32_t cell_size; /* 1, 2, 4 or 8 bytes */
	uint32_t cells;     /* 1, or those of the struct */
	uint32_t cell;      /* index of the first among the table's cells */
	uint32_t width;     /* cells that a row has of it: all, of one that is spread only one */
	uint32_t at;        /* index of the first among the row's cells */
	bool is_spread;     /* its buckets are in rows of their own, by a number in the key */
	const struct buckets
		*buckets; /* of COLUMN_BUCKETS, the schema's; a cell behind them: the sum */
	int member;       /* of the row */
};

/* In the unit of the metric. */
static inline double column_scaled(const struct column *column, double n)
{
	return n * (double)column->tag.numerator / (double)column->tag.denominator;
}

/* One value list: all data sources of a type, each from a column. */
struct metric {
	size_t source_count;
	uint32_t series; /* which of its series are dispatched, bits as in series.h */
	uint32_t column[SCHEMA_SOURCES_MAX]; /* in the order of types.db */
};

/* A histogram of a row whose column has the word tail, and where its percentile goes. */
struct tail {
	uint32_t hist, member; /* offsets in the row, bytes */
};

/* What a map's row means. */
struct schema {
	struct subject_tag subject;
	struct labels labels; /* of the key, where rows are named by that */
	struct column *columns;
	size_t column_count;
	struct metric *metrics;
	size_t metric_count;
	struct tail *tails; /* also of columns that are not collected */
	size_t tail_count;
	uint32_t rank;      /* column by which TopN chooses, and one; 0: none */
	uint32_t cells;     /* of all columns */
	uint32_t row_cells; /* likewise, of one row */
	struct buckets **buckets;
	size_t bucket_count;
	uint32_t moments;  /* of columns of moments alone */
	uint32_t row_size; /* bytes */
};

/* Takes the place of a column's cells behind those of the columns before. */
void schema_give_cells(struct schema *schema, struct column *column);

/* Is it off by default, as a member of it has DEFAULT(off)? */
bool schema_is_off(const struct schema *schema, const struct metric *metric);

void schema_done(struct schema *schema);

#endif
