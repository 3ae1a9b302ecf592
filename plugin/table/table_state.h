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
#include <stddef.h>
#include <stdint.h>

/* How much was counted in the rows that services have by the engine's leave, and who has none. */
struct slots {
	struct slot_use *use; /* by slot; NULL: it is no such table */
	uint32_t waiting;     /* services with series that found no free row; atomic */
	uint64_t returned;    /* rows that services have given back to others so far; atomic */
};

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

#endif
