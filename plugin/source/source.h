/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SOURCE_H
#define EBPF_SOURCE_H

#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows;

/* The bytes of a row: `parts` that add up, `stride` bytes apart. */
struct row_bytes {
	const unsigned char *at;
	uint32_t parts;
	size_t stride;
};

/* A row with its key: of arrays the number of the row. */
struct source_row {
	const void *key;
	struct row_bytes bytes;
	int cpu;      /* the only one that it is of, -1: of all */
	bool is_base; /* what is in it when its key is met first was counted before */
};

/* Takes a row, which is the source's; a negative errno ends the reading. */
typedef int row_taker(void *to, const struct source_row *row, struct error *error);

/* Where rows come from. */
struct source {
	/* After load. -ENOMEM, or what the kernel says. */
	int (*start)(struct rows *rows, struct error *error);
	/* Gives each row, once. Of a hash that changes meanwhile those that stay. */
	int (*each)(struct rows *rows, row_taker *take, void *to, struct error *error);
	/* Bytes that it takes besides the map, when all rows are there. */
	uint64_t (*memory)(const struct rows *rows);
	/* Frees what the source keeps of its own; NULL: nothing. */
	void (*done)(struct rows *rows);
};

extern const struct source source_array;  /* mapped: read without a system call */
extern const struct source source_copied; /* an array, per CPU or not, copied at each reading */
extern const struct source source_hash;   /* hashes, LRU or not, per CPU or not, by batches */
extern const struct source source_text;   /* text files, read before by text_source_fetch() */

/* The source of a map's rows, or NULL: such a map cannot be a table. */
const struct source *source_of(const struct bpf_map *map);

/* Has the map a value for each CPU? */
bool source_is_percpu(const struct bpf_map *map);

/* From one value of the map to the next, as its source has them, in bytes. */
size_t source_stride(const struct bpf_map *map);

#endif
