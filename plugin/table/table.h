/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_H
#define EBPF_TABLE_H

#include "schema/schema.h"
#include "schema/selection.h"
#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens a map as a table if it has metrics that are collected, by a Table block, which must outlive
 * the table, or, if block is NULL, by its tags. selection may be NULL: metrics that are on by
 * default. Before load. 1: the table is open; 0: the map is no such table; or an error of
 * schema_read(), schema_subject() or schema_describe(), or -EINVAL. */
int table_open(struct table *table, struct bpf_map *map, const struct btf *btf,
	       const struct table_config *block, type_lookup *lookup,
	       const struct selection *selection, struct error *error);

/* Sizes the map, and the maps of this object that its SUBJECT names. Errors of rows_resize(). */
int table_resize(struct table *table, const struct row_counts *counts, struct bpf_object *object,
		 struct error *error);

/* Bytes that a sized table takes in addition to its map, if each row has a subject of its own. */
uint64_t table_memory(const struct table *table);

/* Can its rows change owner, so that whoever reads them has to subscribe to changes? */
bool table_follows(const struct table *table);

/* Does the option Rows limit its rows, or the names that have series? */
bool table_gives_rows(const struct table *table);

/* Maps the rows. What they contain is the base of all growth. After load. Errors of mmap(2),
 * -ENOMEM. */
int table_start(struct table *table, struct error *error);

/* Are its rows those of text files? */
bool table_has_files(const struct table *table);

/* Reads the files of a table that has any, for the next table_read(). Needs no lock. */
void table_fetch(struct table *table, const struct snapshot *snapshot, uint64_t now_ns);

/* Reports, once each, files that cannot be read and maps with too many keys. False: there is
 * nothing new to report. */
bool table_trouble(struct table *table, struct error *ret_trouble);

/* Adds the growth of the rows to the accumulators of their subjects. snapshot may be NULL for
 * tables of the probe itself. now_ns is of CLOCK_BOOTTIME. -ENOMEM. */
int table_read(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
	       struct error *error);

/* Adds the growth of the rows before rows change owner; the next reading dispatches it with its
 * own. If there is no chance to call it, table_miss() must be called: the growth of rows that can
 * change owner is then discarded at the next reading. */
int table_catch_up(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
		   struct error *error);
void table_miss(struct table *table);

void table_done(struct table *table);

#endif
