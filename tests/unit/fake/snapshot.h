/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of services and processes, as tables are read with, in ordinary memory. Tests make and
 * change it by these functions only: they alone name the members of its structs.
 */
#ifndef FAKE_SNAPSHOT_H
#define FAKE_SNAPSHOT_H

#include "tests/unit/testing.h"

#include "bpf/lib/services/service.h"
#include "plugin/service/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_ROWS_MAX 16
#define NO_SUBJECT (-1)

struct fake_snapshot {
	struct snapshot snapshot;
	struct service_state states[SNAPSHOT_ROWS_MAX];
	struct process_row process_rows[SNAPSHOT_ROWS_MAX];
	bool active[SNAPSHOT_ROWS_MAX];
};

/* All rows of services are free, and no row of processes has an owner. The snapshot points into
 * *s, which must not move. */
static inline void snapshot_init(struct fake_snapshot *s, uint32_t rows, uint32_t process_rows)
{
	if (rows > SNAPSHOT_ROWS_MAX || process_rows > SNAPSHOT_ROWS_MAX)
		abort();
	*s = (struct fake_snapshot){ .snapshot = { .row_count = rows,
						   .process_row_count = process_rows } };
	s->snapshot.states = s->states;
	s->snapshot.process_rows = s->process_rows;
	s->snapshot.active = s->active;
	for (uint32_t i = 0; i < process_rows; i++)
		s->process_rows[i].subject = NO_SUBJECT;
}

static inline void snapshot_done(struct fake_snapshot *s)
{
	subjects_done(&s->snapshot.subjects);
}

/* Gives a row's service series of its own; returns its subject or -errno. */
static inline int show_row(struct fake_snapshot *s, uint32_t row, enum subject_kind kind,
			   const char *name)
{
	s->states[row] = (struct service_state){
		.state = ROW_SHOWN,
		.subject = subjects_enter(&s->snapshot.subjects, kind, name),
	};
	if (s->states[row].subject >= 0 &&
	    s->snapshot.subjects.subject[s->states[row].subject].rows == 1)
		s->snapshot.subjects.subject[s->states[row].subject].first_row = row;
	return s->states[row].subject;
}

/* A service that a Service block names: it has series from the start. */
static inline void show_configured(struct fake_snapshot *s, uint32_t row, const char *name)
{
	show_row(s, row, SUBJECT_SERVICE, name);
	s->states[row].fixed = true;
}

/* One that is named after its command. */
static inline void show_command(struct fake_snapshot *s, uint32_t row, const char *name)
{
	show_row(s, row, SUBJECT_COMMAND, name);
}

/* The row keeps its subject and flags. */
static inline void set_state(struct fake_snapshot *s, uint32_t row, enum row_state state)
{
	s->states[row].state = state;
}

/* The row loses its subject and all flags; the subject stays in the list. */
static inline void reset_row(struct fake_snapshot *s, uint32_t row, enum row_state state)
{
	s->states[row] = (struct service_state){ .state = state, .subject = NO_SUBJECT };
}

/* The row retires, and its subject leaves the list. */
static inline void retire_row(struct fake_snapshot *s, uint32_t row)
{
	subjects_release(&s->snapshot.subjects, (size_t)s->states[row].subject);
	reset_row(s, row, ROW_RETIRED);
}

/* Its counts wait until it is known whether it is of a Service block. */
static inline void defer_row(struct fake_snapshot *s, uint32_t row)
{
	s->states[row] = (struct service_state){ .state = ROW_HIDDEN, .undecided = true };
}

/* Two rows of the same service. */
static inline void join_rows(struct fake_snapshot *s, uint32_t row, uint32_t other)
{
	s->states[row] = s->states[other];
}

/* Whether any user of the machine can choose the name of the row's service. */
static inline void set_user_controlled(struct fake_snapshot *s, uint32_t row, bool user_controlled)
{
	s->states[row].user_controlled = user_controlled;
}

/* The last `count` rows may belong to Service blocks. */
static inline void set_early_rows(struct fake_snapshot *s, uint32_t count)
{
	s->snapshot.early_rows = count;
}

static inline void set_other_unwatched(struct fake_snapshot *s, bool unwatched)
{
	s->snapshot.other_unwatched = unwatched;
}

/* Returns its subject or -errno. */
static inline int show_process(struct fake_snapshot *s, uint32_t row, const char *name,
			       uint64_t start_ns)
{
	s->process_rows[row] = (struct process_row){
		.subject = subjects_enter(&s->snapshot.subjects, SUBJECT_PROCESS, name),
		.start_ns = start_ns,
	};
	return s->process_rows[row].subject;
}

/* Of the processes of a group, the `top_n` that grow most have series. */
static inline void show_ranked_process(struct fake_snapshot *s, uint32_t row, const char *name,
				       unsigned group, unsigned top_n)
{
	int number = show_process(s, row, name, 0);
	struct subject *subject = &s->snapshot.subjects.subject[number];

	subject->rank_group = group;
	subject->top_n = top_n;
}

static inline void end_process(struct fake_snapshot *s, uint32_t row, uint64_t ended_ns)
{
	s->process_rows[row].ended_ns = ended_ns;
}

static inline size_t subject_of_row(const struct fake_snapshot *s, uint32_t row)
{
	return (size_t)s->states[row].subject;
}

static inline size_t subject_of_process(const struct fake_snapshot *s, uint32_t row)
{
	return (size_t)s->process_rows[row].subject;
}

/* The subject of this name, which must be in the list. */
static inline size_t subject_named(const struct fake_snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->snapshot.subjects.count; i++)
		if (strcmp(s->snapshot.subjects.subject[i].name, name) == 0)
			return i;
	abort();
}

/* Whether a row's growth has been marked as active since the snapshot was made. */
static inline bool is_active(const struct fake_snapshot *s, uint32_t row)
{
	return s->active[row];
}

/* "other", "kernel" and rows without series, of six; no process. */
#define ROWS 6

static inline void snapshot_of_six(struct fake_snapshot *s)
{
	snapshot_init(s, ROWS, ROWS);
	show_configured(s, SERVICE_OTHER, "other");
	show_configured(s, SERVICE_KERNEL, "kernel");
	for (uint32_t row = SERVICE_FIRST; row < ROWS; row++)
		reset_row(s, row, ROW_HIDDEN);
}

#endif
