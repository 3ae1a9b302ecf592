/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBJECT_H
#define EBPF_SUBJECT_H

#include "schema/subject_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What series are about: a plugin instance. Rows of tables map to subjects, also several rows to one. */
struct subject {
	enum subject_kind kind;
	char name[SUBJECT_NAME_MAX];
	uint64_t generation; /* changes when the number is reused */
	bool used;
	unsigned rows;
	uint32_t first_row;  /* of a service, as of lifecycle_refresh() */
	unsigned rank_group; /* only the top_n of a group are dispatched */
	unsigned top_n;      /* 0: no ranking */
};

/* Reserved names of a kind: NAME, or NAME with that many numbers appended, such as NAME-7-42. */
struct subject_names {
	enum subject_kind kind;
	unsigned numbers;
	char name[SUBJECT_NAME_MAX];
};

struct subjects {
	struct subject *subject;
	size_t count;
	uint64_t generation;
	struct subject_names *reserved;
	size_t reserved_count;
};

/* Reserves names: later kinds can no longer have them. The name is clean. 0 or -ENOMEM. */
int subjects_reserve(struct subjects *subjects, enum subject_kind kind, const char *name,
		     unsigned numbers);

/* Do both contain the same name? */
bool subject_names_overlap(const struct subject_names *a, const struct subject_names *b);

/* The name of the first reserved names of this kind that overlap with `names`; or NULL. */
const char *subjects_find_reserved(const struct subjects *subjects, enum subject_kind kind,
				   const struct subject_names *names);

/* Adds a row to the subject of this kind and name, which is created if needed, and returns its number. The name is
 * cleaned for collectd. If an earlier kind has reserved it, that of a unit, a container, a user or a command gets
 * underscores; any other is refused: -EEXIST, as is one without room for them. The name of a service is reserved by
 * this; units, containers and users have theirs as long as the subject exists. -ENOMEM. */
int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *name);

/* Adds a row to a subject. */
void subjects_join(struct subjects *subjects, size_t subject);

/* The subject to which subjects_enter() would add a row; -1: it would create one, or fail. */
int subjects_find_entered(const struct subjects *subjects, enum subject_kind kind,
			  const char *name);

/* The subject of this kind and (cleaned) name; -1: none. */
int subjects_find(const struct subjects *subjects, enum subject_kind kind, const char *name);

/* Removes a row; a subject without rows is freed. */
void subjects_release(struct subjects *subjects, size_t subject);

void subjects_done(struct subjects *subjects);

#endif
