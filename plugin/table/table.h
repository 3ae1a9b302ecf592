/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_H
#define EBPF_TABLE_H

#include "accumulator.h"
#include "keys.h"
#include "schema/schema.h"
#include "schema/selection.h"
#include "service/snapshot.h"
#include "slots.h"
#include "source/rows.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A map that is read: where its rows lie and what has been read of them. */
struct table {
	char name[64]; /* of the map */
	struct schema schema;
	struct bpf_map *map;
	struct rows rows;
	struct fields *fields;   /* of text files; NULL: of none */
	struct mapping previous; /* cells of all rows at the last reading, uint64_t */
	struct mapping tails;    /* likewise, of histograms whose percentile is written */
	struct accumulators accumulators;
	struct slots slots;  /* of rows that services have by the engine's leave */
	uint64_t refused;    /* processes whose growth found no accumulator; atomic */
	struct keys keys;    /* of a table of keys: what `previous` is of others */
	uint64_t read_ns;    /* when, of CLOCK_BOOTTIME */
	uint64_t fetched_ns; /* when its files were read, 0: it has none */
	uint64_t elapsed_ns; /* between the last two readings, 0: there was one */
	bool caught_up;      /* since the last reading: the windows have begun */
	bool stale;          /* growth is no longer known to be whose it was */
};

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

/* Has each process a row on first use? */
bool table_is_of_slot_processes(const struct table *table);

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

/* For slots.c: adds entry `at` of the table to the accumulator of the row's subject, or takes
 * what it holds as the start of its growth. */
int table_read_row(struct table *table, const struct snapshot *snapshot, uint32_t row, uint32_t at,
		   struct error *error);
void table_remember(const struct table *table, uint32_t at);

void table_done(struct table *table);

#endif
