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

/* Is this map a table, of which something is collected? By a block (NULL: none), which must outlive it, else
 * by its tags. 1, and the table is made; 0; or an error of schema_read(), schema_subject() and
 * schema_describe(), or -EINVAL. selection may be NULL: what is on by default. Before load. */
int table_open(struct table *table, struct bpf_map *map, const struct btf *btf,
	       const struct table_config *block, type_lookup *lookup,
	       const struct selection *selection, struct error *error);

/* Sizes the map, and those that its SUBJECT names, which are of this object; errors of
 * rows_resize(). */
int table_resize(struct table *table, const struct row_counts *counts, struct bpf_object *object,
		 struct error *error);

/* Bytes that a sized table takes besides its map, when each row is of a subject of its own. */
uint64_t table_memory(const struct table *table);

/* Are its rows given to others, so that who reads them is a subscriber? */
bool table_follows(const struct table *table);

/* Has it rows of which Rows says how many there are? */
bool table_gives_rows(const struct table *table);

/* Maps the rows and takes them as the start of all growth. After load; errors of mmap(2),
 * -ENOMEM. */
int table_start(struct table *table, struct error *error);

/* Reads the files of a table that has some, for table_read() to take; needs no lock. */
void table_fetch(struct table *table, uint64_t now_ns);

/* What is to be told of files that cannot be read, and of maps with too many keys; false: nothing, or it was
 * told before. */
bool table_trouble(struct table *table, struct error *ret_trouble);

/* Adds what the rows have grown by to the accumulators of their subjects. snapshot
 * may be NULL for tables of the probe itself. now_ns of CLOCK_BOOTTIME. -ENOMEM. */
int table_read(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
	       struct error *error);

/* Adds what the rows have grown by, which the next reading tells as its own: rows may then go to
 * others. Without a chance to do so there is table_miss(): what rows that may go to others have
 * grown by until the next time counts for nobody. */
int table_catch_up(struct table *table, const struct snapshot *snapshot, uint64_t now_ns,
		   struct error *error);
void table_miss(struct table *table);

void table_done(struct table *table);

#endif
