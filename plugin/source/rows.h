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
#define ROWS_MAX 16384 /* of a table: each may be a subject with series */

struct cgroup_rows;
struct config;
struct service_cgroups;
struct text_source;

/* How many rows the tables of a probe get. */
struct row_counts {
	uint32_t services;
	uint32_t processes;
	uint32_t slots; /* at most, for tables that give out rows on first use */
	bool by_grant;  /* services that are not configured get slots by the engine's grant */
	uint32_t shards;
	uint32_t keys; /* names of a table of keys with series at once; 0: not configured */
	const struct config *config;             /* its services have cgroups */
	struct service_cgroups *service_cgroups; /* cgroups of other services; NULL: none */
	const struct cgroup_rows *cgroup_rows;   /* for keys that are numbers of cgroups */
};

/* A mapped array of u32 that both the engine and the kernel write. */
struct numbers {
	struct bpf_map *map;
	struct mapping mapping;
};

/* Where the rows of a table lie. In arrays, shard s of row r is entry r * shards + s of the map. In
 * the copy of a per-CPU array, it is the value of CPU s in entry r. */
struct rows {
	struct bpf_map *map;
	struct mapping mapping;
	size_t stride; /* bytes from one entry to the next */
	uint32_t count;
	uint32_t shards;
	const struct source *source;  /* NULL: source_array */
	uint32_t cpus;                /* values of an entry; 1: not per CPU */
	bool each_cpu;                /* the value of each CPU is a row of its own */
	bool is_written;              /* an array that the engine writes, too */
	unsigned char *keys, *values; /* buffers of the source */
	uint32_t batch;               /* entries that the buffers have room for */
	struct text_source *text;     /* of text files; NULL: the rows are those of the map */
	struct numbers via;    /* by row of a service or process: its slot, which is its row here */
	struct numbers owners; /* by slot: row of its owner + 1; 0: free */
	bool by_grant; /* services need a grant to get a slot, see bpf/lib/services/slot.h */
	uint32_t
		reserved; /* with grants: slots below this one are reserved for configured services */
	uint32_t
		user_first; /* with grants: slots from this one on are open to user-controlled names */
};

/* The number of shards for this number of CPUs: a power of two, ROWS_SHARDS_MAX at most. */
uint32_t rows_shards(int cpus);

/* Sizes the map, and those that its SUBJECT tag names, before load. -EINVAL: a map is of the wrong
 * type, or is used twice; -E2BIG: there are more than ROWS_MAX rows. */
int rows_resize(struct rows *rows, struct bpf_map *map, const struct subject_tag *subject,
		const struct row_counts *counts, struct bpf_object *object, struct error *error);

/* The largest number of rows in one reading, including those per CPU. */
uint32_t rows_most(const struct rows *rows);

/* Are all possible keys known from the start, as they are for an array? */
bool rows_stay(const struct rows *rows);

/* Is a map of one table also used by the other? */
bool rows_have_common_map(const struct rows *rows, const struct rows *other);

/* Maps or allocates what reading needs, after load. Errors of mmap(2), -ENOMEM, or an error of the
 * source. */
int rows_start(struct rows *rows, struct error *error);

/* Bytes that reading takes, including copies of the source. */
uint64_t rows_memory(const struct rows *rows);

/* Calls visit(to, ...) for each row. */
int rows_each(struct rows *rows, row_visitor *visit, void *to, struct error *error);

/* For sources: passes on a row of all CPUs, or one row for each CPU that has counted in it. */
int rows_give(const struct rows *rows, struct source_row *row, row_visitor *visit, void *to,
	      struct error *error);

/* Of mapped arrays: the first byte of a shard of a row. */
const unsigned char *rows_at(const struct rows *rows, uint32_t row, uint32_t shard);

/* Of arrays that the engine writes: stores 8 bytes in the first shard of a row. */
void rows_write(const struct rows *rows, uint32_t row, uint32_t offset, uint64_t value);

/* The slot of a service's or process's row; 0: it has none of its own. */
uint32_t rows_slot(const struct rows *rows, uint32_t owner);

/* The kernel no longer counts for this owner in its slot. */
void rows_close_slot(struct rows *rows, uint32_t owner);

/* The kernel may give a closed slot to another owner, also to one that was refused before. */
void rows_free_slot(struct rows *rows, uint32_t slot);

/* Forgets that an exited owner was refused a slot, before its row has another owner. */
void rows_forget_refusal(struct rows *rows, uint32_t owner);

/* Is a slot reserved for this service, because it is configured? */
bool rows_is_reserved(const struct rows *rows, uint32_t owner);

/* Lets an owner without a slot get one; with is_group also one of those for units and containers.
 * False: it already could. */
bool rows_grant(struct rows *rows, uint32_t owner, bool is_group);

/* Owners without a slot ask for one when they next count something. */
void rows_ask_again(struct rows *rows);

/* Has it asked for a slot and got none? */
bool rows_is_refused(const struct rows *rows, uint32_t owner);

/* The row of a slot's owner; 0: it is free. */
uint32_t rows_owner(const struct rows *rows, uint32_t slot);

/* The kernel no longer counts for this owner in this slot, but may give it another one. */
void rows_return_slot(struct rows *rows, uint32_t slot, uint32_t owner, bool is_group);

/* The owner of a slot that rows_return_slot() has closed; 0: it is not closed. */
uint32_t rows_closed_by(const struct rows *rows, uint32_t slot);

/* The number of slots with an owner. */
uint32_t rows_slots_used(const struct rows *rows);

void rows_done(struct rows *rows);

#endif
