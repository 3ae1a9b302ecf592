/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SNAPSHOT_H
#define EBPF_SNAPSHOT_H

#include "subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a row of the kernel's `services` is in its life. */
enum row_state {
	ROW_FREE,    /* in the kernel's queue */
	ROW_HIDDEN,  /* a command name that counts under "other" */
	ROW_SHOWN,   /* has series of its own */
	ROW_RETIRED, /* its name is taken away, waits until all tables have its growth */
};

/* Of a row of a service. */
struct service_state {
	enum row_state state;
	int subject;       /* -1: never had one */
	bool fixed;        /* not of a command name: never retired */
	bool held;         /* may be of a Service block: what it counts waits until that is known */
	bool anyones;      /* of a name that anybody may make: of a command or a user */
	bool refused;      /* should have series, but there were too many new names */
	uint64_t since_ns; /* of this state */
	uint64_t absent_ns; /* since when no process is alive, 0: some are */
};

/* Of a process with a row of its own. */
struct process_row {
	int subject; /* -1: nobody's */
	uint64_t start_ns;
	uint64_t ended_ns;
	uint64_t left_ns; /* since when it is nobody's, but not free yet */
};

/* Whose rows are, and which subjects there are, as of one moment: readings work on it, at the same
 * time and without a lock. Nothing in it changes but what has been notable. */
struct snapshot {
	uint64_t made_ns; /* of CLOCK_BOOTTIME */
	unsigned users;
	struct service_state *states;
	uint32_t row_count;
	uint32_t early_rows; /* so many of the last ones may be of Service blocks */
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects; /* without the names that are taken */
	unsigned hidden;          /* names under "other" */
	unsigned shown;           /* services with series of their own */
	uint64_t names_refused;   /* new ones, in all */
	bool other_unwatched;     /* only Service blocks are asked for: probes leave out the rest */
	bool *notable;            /* by row; outlives the snapshot; atomic */
};

/* With room for so many; NULL: no memory. */
struct snapshot *snapshot_new(uint32_t row_count, uint32_t process_row_count, size_t subject_count);
void snapshot_free(struct snapshot *snapshot);

/* The subject that a row's growth belongs to, -1: to none. */
int snapshot_subject(const struct snapshot *snapshot, uint32_t row);
int snapshot_process_subject(const struct snapshot *snapshot, uint32_t process);

/* The name of the service that has a row; of rows that there are not, of all others. */
const char *snapshot_name(const struct snapshot *snapshot, uint32_t row);

/* Is there a service of this name? */
bool snapshot_has_service(const struct snapshot *snapshot, const char *name);

/* Does it count for a service of the configuration, or for one that is always there? */
bool snapshot_configured(const struct snapshot *snapshot, uint32_t row);

/* Is it not known yet whose growth a row has? */
bool snapshot_held(const struct snapshot *snapshot, uint32_t row);

/* Has the service of this row series of its own? */
bool snapshot_is_shown(const struct snapshot *snapshot, uint32_t row);

/* Has the service of this row ended, so that nothing but remains count there? */
bool snapshot_gone(const struct snapshot *snapshot, uint32_t row);

/* Has the process of this row ended? What it did last is there. */
bool snapshot_process_gone(const struct snapshot *snapshot, uint32_t process);

/* A row has used much of something. */
void snapshot_notable(const struct snapshot *snapshot, uint32_t row);

#endif
