/* SPDX-License-Identifier: MIT */
#ifndef SLOTS_H
#define SLOTS_H

#include "reading.h"

#include "bpf/lib/service.h"

#define SERVICES 5
#define WEB SERVICE_FIRST
#define DB (SERVICE_FIRST + 1)
#define HIDDEN (SERVICE_FIRST + 2)
#define SLOTS 3
#define SHARDS 2

/* A table of slots, two shards each, the maps that give them out, and services: of a block, of
 * command names with and without series of their own. */
struct fixture {
	struct snapshot snapshot;
	struct service_state states[SERVICES];
	uint64_t via[SERVICES], owners[SLOTS];
	struct table table;
	uint64_t *cells;
};

static inline void show(struct fixture *f, uint32_t row, const char *name, bool fixed)
{
	f->states[row] = (struct service_state){
		.state = ROW_SHOWN,
		.subject = subjects_enter(&f->snapshot.subjects, SUBJECT_SERVICE, name),
		.fixed = fixed,
	};
}

static inline void fixture_init(struct fixture *f)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");

	*f = (struct fixture){ .snapshot = { .row_count = SERVICES, .states = f->states } };
	show(f, SERVICE_KERNEL, "kernel", true);
	show(f, SERVICE_OTHER, "other", true);
	show(f, WEB, "web", true);
	show(f, DB, "db", false);
	f->states[HIDDEN].state = ROW_HIDDEN;
	f->cells = row_table(&f->table, &member, 1, 8, SLOTS * SHARDS, SUBJECT_SERVICE);
	f->table.rows.count = SLOTS;
	f->table.rows.shards = SHARDS;
	strcpy(f->table.schema.subject.via, "via");
	f->table.rows.via.mapping.start = f->via;
	f->table.rows.owners.mapping.start = f->owners;
}

static inline void fixture_done(struct fixture *f)
{
	table_done(&f->table);
	subjects_done(&f->snapshot.subjects);
}

/* As the kernel does at the first event of a service. */
static inline void give_slot(struct fixture *f, uint32_t row, uint32_t slot)
{
	f->owners[slot] = row + 1;
	f->via[row] = slot;
}

/* An event on each CPU. */
static inline void count(struct fixture *f, uint32_t slot, uint64_t n)
{
	f->cells[slot * SHARDS] += n;
	f->cells[slot * SHARDS + 1] += 1;
}

/* NULL: no series. */
static inline const struct accumulator *accumulator_of(const struct fixture *f, uint32_t row)
{
	size_t subject = (size_t)f->states[row].subject;

	return subject < f->table.accumulators.count &&
			       f->table.accumulators.accumulator[subject].fed
		       ? &f->table.accumulators.accumulator[subject]
		       : NULL;
}

static inline void check(const struct fixture *f, uint32_t row, uint64_t window, uint64_t total)
{
	const struct accumulator *accumulator = accumulator_of(f, row);

	CHECK_INT(accumulator != NULL, 1);
	if (!accumulator)
		return;
	CHECK_UINT(accumulator->window[0], window);
	CHECK_UINT(accumulator->total[0], total);
}

#endif
