/* SPDX-License-Identifier: MIT */
/*
 * A table of slots that services get on first use, two shards each, and services: two of Service
 * blocks or commands with series of their own, one without. The kernel's side is played by
 * give_slot() and count().
 */
#ifndef SLOTS_H
#define SLOTS_H

#include "row.h"
#include "snapshot.h"
#include "table.h"

#include "bpf/lib/services/service.h"

#define SERVICES 5
#define WEB SERVICE_FIRST
#define DB (SERVICE_FIRST + 1)
#define HIDDEN (SERVICE_FIRST + 2)
#define SLOTS 3
#define SHARDS 2

struct slots_fixture {
	struct fake_snapshot services;
	uint64_t via[SERVICES], owners[SLOTS];
	struct table table;
	uint64_t *cells;
};

static inline void slots_fixture_init(struct slots_fixture *f)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");

	*f = (struct slots_fixture){ .cells = NULL };
	snapshot_init(&f->services, SERVICES, SERVICES);
	show_configured(&f->services, SERVICE_KERNEL, "kernel");
	show_configured(&f->services, SERVICE_OTHER, "other");
	show_configured(&f->services, WEB, "web");
	show_row(&f->services, DB, SUBJECT_SERVICE, "db");
	reset_row(&f->services, HIDDEN, ROW_HIDDEN);
	f->cells = row_table(&f->table, &member, 1, 8, SLOTS * SHARDS, SUBJECT_SERVICE);
	row_table_shards(&f->table, SLOTS, SHARDS);
	row_table_slots(&f->table, f->via, f->owners);
}

static inline void slots_fixture_done(struct slots_fixture *f)
{
	table_done(&f->table);
	snapshot_done(&f->services);
}

static inline void read_slots(struct slots_fixture *f, uint64_t now_ns)
{
	read_at(&f->table, &f->services.snapshot, now_ns);
}

/* As the kernel does at the first event of a service or process. */
static inline void give_slot(struct slots_fixture *f, uint32_t row, uint32_t slot)
{
	f->owners[slot] = row + 1;
	f->via[row] = slot;
}

/* n events on one CPU, one on another. */
static inline void count(struct slots_fixture *f, uint32_t slot, uint64_t n)
{
	f->cells[slot * SHARDS] += n;
	f->cells[slot * SHARDS + 1] += 1;
}

/* Whether the last reading has series of the row's service. */
static inline bool has_series(const struct slots_fixture *f, uint32_t row)
{
	return fed(&f->table, subject_of_row(&f->services, row));
}

static inline void check_subject(const struct slots_fixture *f, size_t subject,
				 uint64_t want_window, uint64_t want_total)
{
	CHECK_INT(fed(&f->table, subject), 1);
	if (!fed(&f->table, subject))
		return;
	CHECK_UINT(window(&f->table, subject, 0), want_window);
	CHECK_UINT(total(&f->table, subject, 0), want_total);
}

static inline void check(const struct slots_fixture *f, uint32_t row, uint64_t want_window,
			 uint64_t want_total)
{
	check_subject(f, subject_of_row(&f->services, row), want_window, want_total);
}

#endif
