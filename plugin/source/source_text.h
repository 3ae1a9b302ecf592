/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SOURCE_TEXT_H
#define EBPF_SOURCE_TEXT_H

#include "rows.h"
#include "schema/fields.h"
#include "util/message.h"

#include <stdbool.h>

/* What a table of text files has read. */
struct text_source;

/* Makes text files the source of the rows; the map is not created in the kernel. `fields` and the
 * configuration in `counts` stay the caller's. -E2BIG, -ENOMEM. */
int text_source_prepare(struct rows *rows, struct bpf_map *map, const struct fields *fields,
			const struct row_counts *counts, struct error *error);

struct snapshot;

/* Reads all files. each() then gives the rows: of services, one for all rows that have one subject. Needs no lock.
 * `snapshot` is needed for services only. */
void text_source_fetch(struct text_source *source, const struct snapshot *snapshot);

/* The trouble of the last fetch, if it was not returned before; otherwise false. */
bool text_source_trouble(struct text_source *source, struct error *ret_trouble);

/* Did any file have the member of this column of the schema? */
bool text_source_has(const struct text_source *source, uint32_t column);

#endif
