/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_ROWS_H
#define EBPF_TEXT_ROWS_H

#include "schema/fields.h"
#include "source.h"
#include "text.h"
#include "text_files.h"
#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What text files say, as rows: of services and of the probe what all their files say together, of
 * keys those that the files have. */
struct text_rows {
	const struct fields *fields;
	uint32_t count;
	size_t stride;          /* bytes of a row */
	bool begins_at_zero;    /* files that come count from zero, not from what they say first */
	bool has_begun;         /* files were read before */
	struct text_file *file; /* that is being read */
	bool any;               /* row of it, of use */
	bool is_full;           /* there were more rows than count */
	uint64_t value[TEXT_FIELDS_MAX];
	bool has[TEXT_FIELDS_MAX];
	bool found[TEXT_FIELDS_MAX]; /* in any file that was read now */
	bool ever[TEXT_FIELDS_MAX];
	unsigned char *sums;  /* rows by number; the caller's */
	bool *given;          /* is there anything now that such a row is of? */
	unsigned char *files; /* how many files it has now, 2: two or more */
	uint64_t *most; /* by row and field: what has grown most now, of FILEs with `highest` */
	unsigned char *keys; /* and rows behind them */
	size_t key_count, key_room, key_stride;
	struct index by_key;
};

/* For so many rows; fields stay the caller's, and so do `sums`, the zeroed bytes of as many rows, where
 * rows have no keys. -ENOMEM. */
int text_rows_init(struct text_rows *rows, const struct fields *fields, uint32_t count,
		   size_t stride, void *sums);

/* Nothing has been read yet. */
void text_rows_begin(struct text_rows *rows);

/* The row of a file has this one, whether it is read or not. */
void text_rows_count(struct text_rows *rows, const struct text_file *file);

/* Adds what a file says; false: nothing of use. */
bool text_rows_read(struct text_rows *rows, struct text_file *file, const char *text, size_t size);

/* Bytes that a row takes, with its key. */
size_t text_rows_size(const struct fields *fields, size_t stride);

/* Gives each row that there is now, see row_taker. */
int text_rows_each(const struct text_rows *rows, row_taker *take, void *to, struct error *error);

void text_rows_done(struct text_rows *rows);

#endif
