/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SCHEMA_H
#define EBPF_SCHEMA_H

#include "buckets.h"
#include "label.h"
#include "tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOMENTS_CELLS 5      /* of struct moments: count, sum, three limbs of squares */
#define SCHEMA_SOURCES_MAX 8 /* data sources of one type */

/* The kinds of data sources that collectd knows. */
enum source_kind { SOURCE_COUNTER, SOURCE_GAUGE, SOURCE_DERIVE, SOURCE_ABSOLUTE };

/* A type of types.db. */
struct metric_type {
	size_t source_count; /* 0: it is unknown, and no values of it are dispatched */
	struct {
		char name[TAG_TEXT_MAX];
		enum source_kind kind;
	} source[SCHEMA_SOURCES_MAX];
};

/* Finds a type of types.db. 0, -ENOENT, or -E2BIG: it has more than SCHEMA_SOURCES_MAX data
 * sources. */
typedef int type_lookup(const char *type, struct metric_type *ret_type);

/* An integer, a struct moments, a struct hist, or buckets of a Table block. */
enum column_kind { COLUMN_INTEGER, COLUMN_MOMENTS, COLUMN_HIST, COLUMN_BUCKETS };

/* A member of a row that is read. */
struct column {
	struct tag tag;
	enum column_kind kind;
	enum source_kind ds;
	bool is_signed;
	bool is_hidden;     /* other columns need it, but it has no metric of its own */
	bool is_off;        /* off by default: its member has DEFAULT(off) */
	bool is_gauge;      /* the value itself is dispatched, else its growth */
	bool is_absent;     /* at this reading no row has it, so it is not dispatched */
	uint32_t per;       /* index of the column of tag.per */
	uint32_t where;     /* index of the column of tag.where, plus one; 0: none */
	uint32_t moments;   /* cells of all columns of moments before this one */
	uint32_t offset;    /* in the row, bytes */
	uint32_t cell_size; /* 1, 2, 4 or 8 bytes */
	uint32_t cells;     /* 1, or those of the struct */
	uint32_t cell;      /* index of its first cell among those of the table */
	uint32_t width; /* cells in one row: 1 if it is spread; without the sum if it has none */
	uint32_t at;    /* index of its first cell among those of the row */
	bool is_spread; /* each bucket is in a row of its own; the key has its number */
	const struct buckets *buckets; /* the schema's */
	int member;                    /* index in the row's type */
};

/* The cells in a row that count samples. The last cell of a histogram is the sum of the values. */
static inline uint32_t column_counts(const struct column *column)
{
	if (column->kind == COLUMN_HIST || (column->kind == COLUMN_BUCKETS && !column->is_spread))
		return column->cells - 1;
	return 1;
}

/* A number of the column in the unit of the metric. */
static inline double column_scaled(const struct column *column, double n)
{
	return n * (double)column->tag.numerator / (double)column->tag.denominator;
}

/* One value list: all data sources of a type, each from a column. */
struct metric {
	size_t source_count;
	uint32_t series; /* which of its series are dispatched, bits of enum series_number */
	uint32_t column[SCHEMA_SOURCES_MAX]; /* ordered as in types.db */
};

/* A histogram of a row whose column has the word tail, and the member that its percentile is
 * written into. */
struct tail {
	uint32_t hist, member; /* offsets in the row, bytes */
};

/* What the rows of a map mean. */
struct schema {
	struct subject_tag subject;
	struct labels labels; /* of the key, if rows are named by their keys */
	struct column *columns;
	size_t column_count;
	struct metric *metrics;
	size_t metric_count;
	struct tail *tails; /* also those of columns that are not collected */
	size_t tail_count;
	uint32_t rank;      /* index of the column by which TopN ranks, plus one; 0: none */
	uint32_t cells;     /* of all columns */
	uint32_t row_cells; /* of all columns, in one row */
	struct buckets **buckets;
	size_t bucket_count;
	uint32_t moments;  /* cells of all columns of moments */
	uint32_t row_size; /* bytes */
};

/* Places the cells of a column behind those of the columns before it. */
void schema_give_cells(struct schema *schema, struct column *column);

/* Has any column of the metric DEFAULT(off)? */
bool schema_is_off(const struct schema *schema, const struct metric *metric);

void schema_done(struct schema *schema);

#endif
