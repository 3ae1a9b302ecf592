/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SNAPSHOT_H
#define EBPF_SNAPSHOT_H

#include "subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The life of a row of the kernel's `services`. */
enum row_state {
	ROW_FREE,    /* in the kernel's queue of free rows */
	ROW_HIDDEN,  /* counts under "other" */
	ROW_SHOWN,   /* has series of its own */
	ROW_RETIRED, /* its name is deleted; waits until all tables have its growth */
};

/* The state of a row of a service. */
struct service_state {
	enum row_state state;
	int subject;    /* -1: never had one */
	bool fixed;     /* of a Service block, "other" or "kernel": never retired */
	bool undecided; /* may belong to a Service block: its growth waits until that is known */
	bool user_controlled; /* a command or a user: any user can make such names */
	bool refused;         /* gets no series, as there are too many new names */
	uint64_t since_ns;    /* of this state */
	uint64_t absent_ns;   /* since when it has no process, 0: it has some */
};

/* A process with a row of its own. */
struct process_row {
	int subject; /* -1: none */
	uint64_t start_ns;
	uint64_t ended_ns;
	uint64_t left_ns; /* since when it has no subject, but is not free yet */
};

/* The owners of rows and the subjects, as of one moment. Readings work on it concurrently and without a lock; only
 * `active` changes. */
struct snapshot {
	uint64_t made_ns; /* of CLOCK_BOOTTIME */
	unsigned users;
	struct service_state *states;
	uint32_t row_count;
	uint32_t early_rows; /* the last ones, which may belong to Service blocks */
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects; /* without reserved names */
	unsigned hidden;          /* names under "other" */
	unsigned shown;           /* services with series of their own */
	unsigned unnamed;         /* services with processes whose names are ids of containers */
	uint64_t names_refused;   /* new names, in all */
	bool other_unwatched;     /* ServicesFrom is "none": probes may skip other processes */
	bool *active;             /* by row; outlives the snapshot; atomic */
};

/* With room for that many; NULL: no memory. */
struct snapshot *snapshot_new(uint32_t row_count, uint32_t process_row_count, size_t subject_count);
void snapshot_free(struct snapshot *snapshot);

/* The subject that a row's growth belongs to, -1: none. */
int snapshot_subject(const struct snapshot *snapshot, uint32_t row);
int snapshot_process_subject(const struct snapshot *snapshot, uint32_t process);

/* As snapshot_subject(), but -1 for what counts under "other" while that is unwatched by programs that
 * ask: they count only part of it. */
int snapshot_service(const struct snapshot *snapshot, uint32_t row, bool asks_for_other);

/* The first of the rows that have the same subject, which stands for all of them. */
uint32_t snapshot_first_row(const struct snapshot *snapshot, uint32_t row);

/* The name of a row's service; of a row that does not exist, "other". */
const char *snapshot_name(const struct snapshot *snapshot, uint32_t row);

/* Does a service of this name have series? */
bool snapshot_has_service(const struct snapshot *snapshot, const char *name);

/* Does it count for a service of the configuration, "other" or "kernel"? */
bool snapshot_configured(const struct snapshot *snapshot, uint32_t row);

/* Is it still unknown to which service the growth of the row belongs? */
bool snapshot_is_undecided(const struct snapshot *snapshot, uint32_t row);

/* Has the service of this row series of its own? */
bool snapshot_is_shown(const struct snapshot *snapshot, uint32_t row);

/* Have all processes of this row's service exited? Its last growth may still come. */
bool snapshot_is_exited(const struct snapshot *snapshot, uint32_t row);

/* Has the process of this row exited? Its last growth may still come. */
bool snapshot_process_is_exited(const struct snapshot *snapshot, uint32_t process);

/* The row was very active. */
void snapshot_set_active(const struct snapshot *snapshot, uint32_t row);

#endif
