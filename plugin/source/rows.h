/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ROWS_H
#define EBPF_ROWS_H

#include "object/mapping.h"
#include "schema/schema.h"
#include "source.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_SHARDS_MAX 8
#define ROWS_MAX 16384 /* of a table: each may be a subject with its series */

struct cgroup_rows;
struct config;
struct places;
struct text_source;

/* How many rows the tables of a probe get. */
struct row_counts {
	uint32_t services;
	uint32_t processes;
	uint32_t slots; /* at most, of tables that give rows on first use */
	bool by_leave;  /* services that are not configured have them by the engine's leave */
	uint32_t shards;
	uint32_t keys; /* names of a table of keys with series at once, 0: nothing is said */
	const struct config *config; /* whose services have cgroups */
	struct places *places;       /* of cgroups of the others; NULL: none */
	/* Of keys that are numbers of cgroups. */
	const struct cgroup_rows *cgroup_rows;
};

/* An array map of u32, mapped so that both sides may write. */
struct numbers {
	struct bpf_map *map;
	struct mapping mapping;
};

/* Where the rows of a table lie: in arrays shard s of row r is entry r * shards + s of
 * the map, in the copy of a per-CPU array the value of CPU s for row r. */
struct rows {
	struct bpf_map *map;
	struct mapping mapping;
	size_t stride; /* bytes from entry to entry */
	uint32_t count;
	uint32_t shards;
	const struct source *source;  /* NULL: the array */
	uint32_t cpus;                /* values of an entry, 1: not per CPU */
	bool each_cpu;                /* the row of a CPU is a row of its own */
	bool is_written;              /* an array: by the engine, too */
	unsigned char *keys, *values; /* as the source has read them */
	uint32_t batch;               /* how many of them there is room for */
	struct text_source *text;     /* of text files; NULL: of the map */
	struct numbers via;           /* by row of a service or process: its slot, its row here */
	struct numbers owners;        /* by slot: row of its owner + 1, 0: free */
	bool by_leave;                /* see bpf/lib/slot.h */
	uint32_t kept;                /* with that: slots below are of configured services */
	uint32_t open;                /* likewise: from here on anyone's names may have them */
};

/* Shards that this many CPUs share: a power of two. */
uint32_t rows_shards(int cpus);

/* Sizes the map, and those that its subject tag names; before load. -EINVAL: it is not of the right
 * type, or one map has two uses; -E2BIG: it has more rows than ROWS_MAX. */
int rows_resize(struct rows *rows, struct bpf_map *map, const struct subject_tag *subject,
		const struct row_counts *counts, struct bpf_object *object, struct error *error);

/* How many rows are read at once at most, where each CPU has its own those of all CPUs. */
uint32_t rows_most(const struct rows *rows);

/* Is it known from the start which keys there can be, as of an array? */
bool rows_stay(const struct rows *rows);

/* Does a table have a map that another one's SUBJECT names? */
bool rows_share(const struct rows *rows, const struct rows *other);

/* Maps all of them, after load; errors of mmap(2). */
int rows_start(struct rows *rows, struct error *error);

/* Bytes that reading takes, with what the source copies. */
uint64_t rows_memory(const struct rows *rows);

/* Gives each row to take(to, ...), see row_taker. */
int rows_each(struct rows *rows, row_taker *take, void *to, struct error *error);

/* Of sources: a row of all CPUs, or one for each CPU that has counted in it. */
int rows_give(const struct rows *rows, struct source_row *row, row_taker *take, void *to,
	      struct error *error);

/* Of arrays: the first byte of a shard of a row. */
const unsigned char *rows_at(const struct rows *rows, uint32_t row, uint32_t shard);

/* Of arrays that are written to: 8 bytes of the first shard of a row. */
void rows_write(const struct rows *rows, uint32_t row, uint32_t offset, uint64_t value);

/* The slot of a row of a service or process, 0: none of its own. */
uint32_t rows_slot(const struct rows *rows, uint32_t owner);

/* The kernel counts for this owner in its slot no more. */
void rows_close_slot(struct rows *rows, uint32_t owner);

/* The kernel may give a closed slot to another, one that was refused too. */
void rows_free_slot(struct rows *rows, uint32_t slot);

/* An owner that is gone was refused a slot; the next one in its row has not been yet. */
void rows_forget_refusal(struct rows *rows, uint32_t owner);

/* Has a configured service a slot for itself alone? */
bool rows_is_kept(const struct rows *rows, uint32_t owner);

/* An owner of no slot may have one, of a group also one of those that are for groups alone;
 * false: it knew. */
bool rows_give_leave(struct rows *rows, uint32_t owner, bool is_group);

/* All that have none ask for one when they count something again. */
void rows_ask_again(struct rows *rows);

/* Has it asked and got none? */
bool rows_is_refused(const struct rows *rows, uint32_t owner);

/* The row of the owner of a slot, 0: it is free. */
uint32_t rows_owner(const struct rows *rows, uint32_t slot);

/* The kernel counts for this owner in this slot no more, but may give it another. */
void rows_return_slot(struct rows *rows, uint32_t slot, uint32_t owner, bool is_group);

/* Whose the slot was that is closed so, 0: it is not. */
uint32_t rows_closed_by(const struct rows *rows, uint32_t slot);

/* How many slots have an owner. */
uint32_t rows_slots_used(const struct rows *rows);

void rows_done(struct rows *rows);

#endif
