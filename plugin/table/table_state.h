/* SPDX-License-Identifier: MIT */
/* What a table is made of, and what has been read of it. */
#ifndef EBPF_TABLE_STATE_H
#define EBPF_TABLE_STATE_H

#include "accumulator.h"
#include "key_state.h"
#include "object/mapping.h"
#include "schema/schema.h"
#include "source/rows.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

/* How much services count in slots that they have by the engine's grant, and how many have none. */
struct slots {
	struct slot_use *use; /* by slot; NULL: the table grants no slots */
	uint32_t unassigned;  /* services with series that found no free slot; atomic */
	uint64_t returned;    /* slots that services have given back so far; atomic */
};

/* A map that is read, and what has been read of it. */
struct table {
	char name[64]; /* of the map */
	struct schema schema;
	struct bpf_map *map;
	struct rows rows;
	struct fields *fields;   /* of text files; NULL: the rows are those of the map */
	struct mapping previous; /* cells of all rows at the last reading, uint64_t */
	struct mapping tails;    /* likewise, of histograms whose percentile is written */
	struct accumulators accumulators;
	struct slots slots;  /* of rows that services have by the engine's grant */
	uint64_t refused;    /* processes whose growth found no accumulator; atomic */
	struct keys keys;    /* of a table of keys, in place of `previous` */
	uint64_t read_ns;    /* when it was last read, of CLOCK_BOOTTIME */
	uint64_t fetched_ns; /* when its files were read; 0: it has none */
	uint64_t elapsed_ns; /* between the last two readings; 0: there was only one */
	bool caught_up;      /* table_catch_up() was called since the last reading */
	bool stale;          /* rows may have changed owner since they were last read */
	bool asks_for_other; /* programs ask whether processes of no service count, too */
};

#endif
