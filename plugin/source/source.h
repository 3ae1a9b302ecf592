/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SOURCE_H
#define EBPF_SOURCE_H

#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows;

/* The bytes of a row: `parts` that are summed, `stride` bytes apart. */
struct row_bytes {
	const unsigned char *at;
	uint32_t parts;
	size_t stride;
};

/* A row with its key; in arrays, the key is the index. */
struct source_row {
	const void *key;
	struct row_bytes bytes;
	int cpu;      /* the only CPU that it is of; -1: all CPUs */
	bool is_base; /* what a new key contains was counted before and is no growth */
};

/* Called with a row, which the source owns. A negative errno ends the reading. */
typedef int row_visitor(void *to, const struct source_row *row, struct error *error);

/* Where rows come from. */
struct source {
	/* After load. -ENOMEM, or an error of the kernel. */
	int (*start)(struct rows *rows, struct error *error);
	/* Calls `visit` once for each row. Keys that are added or deleted meanwhile may be
	 * missing. */
	int (*each)(struct rows *rows, row_visitor *visit, void *to, struct error *error);
	/* Bytes that it takes in addition to the map, if all rows exist. */
	uint64_t (*memory)(const struct rows *rows);
	/* Frees the source's own state; NULL: it has none. */
	void (*done)(struct rows *rows);
};

extern const struct source source_array;  /* mapped arrays, read without a system call */
extern const struct source source_copied; /* arrays, per CPU or not, copied at each reading */
extern const struct source source_hash;   /* hashes, LRU or not, per CPU or not, read in batches */
extern const struct source source_text; /* text files, which text_source_fetch() has read before */

/* The source of a map's rows; NULL: such a map cannot be a table. */
const struct source *source_of(const struct bpf_map *map);

/* Has the map a value for each CPU? */
bool source_is_percpu(const struct bpf_map *map);

/* Bytes from one value of the map to the next, as its source has them. */
size_t source_stride(const struct bpf_map *map);

#endif
