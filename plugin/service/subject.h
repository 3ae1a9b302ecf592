/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBJECT_H
#define EBPF_SUBJECT_H

#include "config/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kind gives way to those before it where their names meet. */
enum subject_kind {
	SUBJECT_NONE, /* of subjects: the plugin itself */
	SUBJECT_SERVICE,
	SUBJECT_PROBE, /* the probe itself, or one of its rows */
	SUBJECT_PROCESS,
	SUBJECT_UNIT,
	SUBJECT_CONTAINER,
	SUBJECT_USER,
	SUBJECT_COMMAND, /* a service that only a command name makes one */
	SUBJECT_KEY,     /* of tables alone: what the labels of a row's key say */
};

/* What series are about: a plugin instance. Rows of tables map to subjects,
 * several rows may map to one. */
struct subject {
	enum subject_kind kind;
	char name[SUBJECT_NAME_MAX];
	uint64_t generation; /* another subject of this number, another generation */
	bool used;
	unsigned rows;
	unsigned rank_group; /* with top_n: only the top_n of a group are dispatched */
	unsigned top_n;      /* 0: no ranking */
};

/* Names of a kind, whether there are such subjects now or not: NAME, or NAME with so many numbers
 * behind it, as NAME-7-42. */
struct subject_names {
	enum subject_kind kind;
	unsigned numbers;
	char name[SUBJECT_NAME_MAX];
};

struct subjects {
	struct subject *subject;
	size_t count;
	uint64_t generation;
	struct subject_names *taken;
	size_t taken_count;
};

/* Takes names away from the kinds that come later, once and for all; the name is clean.
 * 0 or -ENOMEM. */
int subjects_take(struct subjects *subjects, enum subject_kind kind, const char *name,
		  unsigned numbers);

/* Is there a name that both have? */
bool subject_names_meet(const struct subject_names *a, const struct subject_names *b);

/* The first taken name of this kind that meets another, by its name; or NULL. */
const char *subjects_taken(const struct subjects *subjects, enum subject_kind kind,
			   const struct subject_names *names);

/* The number of a subject, which is made if there is none and counts one more
 * row; -ENOMEM. The name is cleaned for collectd. Where it is taken by a kind before
 * this one, that of a unit, a container, a user or a command gets underscores, any other is refused:
 * -EEXIST. So is one that has no room for them. The name of a service is taken by that; units,
 * containers and users have theirs for as long as there is such a subject. */
int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *name);

/* The subject of this kind and name, as it is when cleaned; -1: there is none. */
int subjects_find(const struct subjects *subjects, enum subject_kind kind, const char *name);

/* A row less; without any its number is free. */
void subjects_leave(struct subjects *subjects, size_t subject);

void subjects_done(struct subjects *subjects);

#endif
