/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ROW_NAME_H
#define EBPF_ROW_NAME_H

#include "subject.h"

#include "bpf/lib/services/group.h"
#include "cgroup/workload.h"

#include <stdbool.h>
#include <stdint.h>

struct lifecycle;

/* The name of a row of a unit, a user or a container. To find it may take files, which are read without the
 * lock of the lifecycle. A command name is its key. */
struct row_name {
	struct group_key key; /* of the row when it was named */
	uint32_t round;       /* of the containers' names, likewise */
	bool is_settled;      /* else a file could not be read, and another name may be found */
	bool is_renamed;      /* since the row has had its subject */
	bool is_nameless;     /* it gets no series */
	bool is_id;           /* of a container of which only the id is known */
	uint32_t service;     /* the row of the Service block that it belongs to, 0: none */
	enum workload workload;
	char name[SUBJECT_TEXT_MAX];
	char other_name[SUBJECT_TEXT_MAX]; /* if another living one has the name */
};

/* The first row from *row on that has not been named in this round of the containers' names; false: there is
 * none. */
bool row_name_wanted(const struct lifecycle *lifecycle, uint32_t round, uint32_t *row,
		     struct group_key *ret_key);

/* Sets the name, which may be another one than before. */
void row_name_set(struct lifecycle *lifecycle, uint32_t row, const struct row_name *name);

/* All rows have been named in a round: the next refresh has those with another name leave their subjects. */
void row_names_complete(struct lifecycle *lifecycle);

/* If any row was renamed: has this one series that it is to leave? Those of its old name, or of its other name,
 * as the first one may be free now. */
bool row_name_is_old(const struct lifecycle *lifecycle, uint32_t row);

/* Is it known which name and which Service block the row has? */
bool row_name_is_settled(const struct lifecycle *lifecycle, uint32_t row);

/* The row of the Service block that this row belongs to, 0: none, or not known yet. */
uint32_t row_name_service(const struct lifecycle *lifecycle, uint32_t row);

/* Has the row the id of its container for a name? */
bool row_name_is_id(const struct lifecycle *lifecycle, uint32_t row);

/* How many rows with processes have the id of their container for a name? */
unsigned row_names_count_ids(const struct lifecycle *lifecycle);

/* May the row have series? */
bool row_name_is_known(const struct lifecycle *lifecycle, uint32_t row);

/* Adds a row to the subject of the row's name, and returns it; errors of subjects_enter(). */
int row_name_enter(struct lifecycle *lifecycle, uint32_t row);

/* The subject of the row's name, -1: there is none. */
int row_name_find(const struct lifecycle *lifecycle, uint32_t row);

/* A subject is new: rows of others that have its name get new names, and so on. */
void row_names_make_way(struct lifecycle *lifecycle, size_t subject);

#endif
