/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SOURCE_TEXT_H
#define EBPF_SOURCE_TEXT_H

#include "rows.h"
#include "schema/fields.h"
#include "util/message.h"

#include <stdbool.h>

/* What a table of text files has read. */
struct text_source;

/* Rows that come from text files: the map is never made. Fields and the configuration of counts stay
 * the caller's. -E2BIG, -ENOMEM. */
int text_source_prepare(struct rows *rows, struct bpf_map *map, const struct fields *fields,
			const struct row_counts *counts, struct error *error);

/* Reads the files, for each() to give what they say; needs no lock of anybody's. */
void text_source_fetch(struct text_source *source);

/* Says what cannot be read; false: nothing, or it was said before. */
bool text_source_trouble(struct text_source *source, struct error *ret_trouble);

/* Did any of the files that were read have what this column of the schema is? */
bool text_source_has(const struct text_source *source, uint32_t column);

#endif
