/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_ROWS_H
#define EBPF_TEXT_ROWS_H

#include "schema/fields.h"
#include "service/snapshot.h"
#include "source.h"
#include "text.h"
#include "text_files.h"
#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What text files say, as rows. Rows of services and of the probe are sums of all their files; rows
 * of keys are those of the files. */
struct text_rows {
	const struct fields *fields;
	uint32_t count;
	size_t stride;                   /* bytes of a row */
	const struct snapshot *snapshot; /* of this reading; NULL: each service has one row */
	bool begins_at_zero;    /* new files count from zero, not from what they say first */
	bool has_begun;         /* files have been read before */
	struct text_file *file; /* that is being read */
	bool any;               /* it had a usable row */
	bool is_full;           /* there were more rows than `count` */
	uint64_t value[TEXT_FIELDS_MAX];
	bool has[TEXT_FIELDS_MAX];
	bool found[TEXT_FIELDS_MAX]; /* in any file of this reading */
	bool ever[TEXT_FIELDS_MAX];
	unsigned char *sums;  /* rows by number; owned by the caller */
	bool *given;          /* has the row a file in this reading? */
	unsigned char *files; /* files of the row in this reading; 2: two or more */
	uint64_t *most; /* with `highest`: the largest growth in this reading, by row and field */
	unsigned char *keys; /* each followed by its row */
	size_t key_count, key_room, key_stride;
	struct index by_key;
};

/* Prepares this many rows. fields must outlive it, and so must `sums`: zeroed memory for all rows,
 * unless rows have keys. -ENOMEM. */
int text_rows_init(struct text_rows *rows, const struct fields *fields, uint32_t count,
		   size_t stride, void *sums);

/* Starts a reading. */
void text_rows_begin(struct text_rows *rows);

/* Counts a file of its row, also if the file is not read. */
void text_rows_count(struct text_rows *rows, const struct text_file *file);

/* Adds the text of a file. false: it has nothing usable. */
bool text_rows_read(struct text_rows *rows, struct text_file *file, const char *text, size_t size);

/* Bytes of a row with its key. */
size_t text_rows_size(const struct fields *fields, size_t stride);

/* Calls `visit` for each row of this reading, see row_visitor. */
int text_rows_each(const struct text_rows *rows, row_visitor *visit, void *to, struct error *error);

void text_rows_done(struct text_rows *rows);

#endif
