/* SPDX-License-Identifier: MIT */
#ifndef POPULATION_H
#define POPULATION_H

#include "reading.h"
#include "tests/unit/testing.h"

#include "bpf/lib/hist.h"
#include "bpf/lib/service.h"

/* Services and processes that tables are about, made by hand. */

#define ROWS 6
#define NONE (-1)
#define HIST_SIZE (HIST_BUCKETS * 8)

/* Services with a row for each name; NULL: hidden. */
struct fixture {
	struct snapshot snapshot;
	bool notable[ROWS];
	struct service_state states[ROWS];
	struct process_row process_rows[ROWS];
};

/* A command name earns its series. */
static inline void show(struct fixture *f, uint32_t row, const char *name)
{
	f->states[row].state = ROW_SHOWN;
	f->states[row].subject = subjects_enter(&f->snapshot.subjects, SUBJECT_COMMAND, name);
}

/* A service that is there from the start. */
static inline void configure(struct fixture *f, uint32_t row, const char *name)
{
	f->states[row].state = ROW_SHOWN;
	f->states[row].subject = subjects_enter(&f->snapshot.subjects, SUBJECT_SERVICE, name);
	f->states[row].fixed = true;
}

static inline void hide(struct fixture *f, uint32_t row)
{
	subjects_leave(&f->snapshot.subjects, (size_t)f->states[row].subject);
	f->states[row] = (struct service_state){ .state = ROW_RETIRED };
}

static inline void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ .snapshot = { .row_count = ROWS, .process_row_count = ROWS } };
	f->snapshot.states = f->states;
	f->snapshot.process_rows = f->process_rows;
	f->snapshot.notable = f->notable;
	configure(f, SERVICE_OTHER, "other");
	configure(f, SERVICE_KERNEL, "kernel");
	for (uint32_t i = SERVICE_FIRST; i < ROWS; i++)
		f->states[i].state = ROW_HIDDEN;
	for (uint32_t i = 0; i < ROWS; i++)
		f->process_rows[i].subject = NONE;
}

static inline size_t subject_of_row(const struct fixture *f, uint32_t row)
{
	return (size_t)f->states[row].subject;
}

static inline void add_process(struct fixture *f, uint32_t process, const char *name,
			       unsigned group, unsigned top_n)
{
	struct subject *subject;

	f->process_rows[process].subject =
		subjects_enter(&f->snapshot.subjects, SUBJECT_PROCESS, name);
	subject = &f->snapshot.subjects.subject[f->process_rows[process].subject];
	subject->rank_group = group;
	subject->top_n = top_n;
}

#endif
