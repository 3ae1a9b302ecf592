/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ROW_NAME_H
#define EBPF_ROW_NAME_H

#include "subject.h"

#include "bpf/lib/services/group.h"
#include "cgroup/pod.h"

#include <stdbool.h>
#include <stdint.h>

struct lifecycle;

/* The name of a row of a unit, a user or a container. To find it may take files, which are read without the
 * lock of the lifecycle. A command name is its key. */
struct row_name {
	struct group_key key; /* of the row when it was named */
	bool is_final;        /* no better name is expected */
	unsigned tries;       /* to find the name */
	bool is_nameless;     /* it gets no series */
	uint32_t service;     /* the row of the Service block that it belongs to, 0: none */
	enum workload workload;
	char name[SUBJECT_NAME_MAX];
	char other_name[SUBJECT_NAME_MAX]; /* if another living one has the name */
};

/* The first row from *row on that needs a name; false: there is none. */
bool row_name_wanted(const struct lifecycle *lifecycle, uint32_t *row, struct group_key *ret_key);

/* Sets the name; unless it is final, the row is named again a few times. */
void row_name_set(struct lifecycle *lifecycle, uint32_t row, const struct row_name *name,
		  bool is_final);

/* Is it known which name and which Service block the row has? */
bool row_name_is_settled(const struct lifecycle *lifecycle, uint32_t row);

/* The row of the Service block that this row belongs to, 0: none, or not known yet. */
uint32_t row_name_service(const struct lifecycle *lifecycle, uint32_t row);

/* May the row have series? */
bool row_name_is_known(const struct lifecycle *lifecycle, uint32_t row);

/* Adds a row to the subject of the row's name, and returns it; errors of subjects_enter(). */
int row_name_enter(struct lifecycle *lifecycle, uint32_t row);

/* The subject of the row's name, -1: there is none. */
int row_name_find(const struct lifecycle *lifecycle, uint32_t row);

/* A subject of this kind is new: rows of later kinds that have the same name change theirs. */
void row_names_make_way(struct lifecycle *lifecycle, enum subject_kind kind);

#endif
