/* SPDX-License-Identifier: MIT */
#ifndef EBPF_REGISTRY_H
#define EBPF_REGISTRY_H

#include "config/config.h"
#include "subject.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* Stands for any label in a name: labels have no hyphens, and no name has slashes. */
#define SERIES_ANY_LABEL "/"

/* The series that a table dispatches, and for which subjects. */
struct series_set {
	const void *owner;
	char probe[CONFIG_NAME_MAX];
	char map[64];
	struct subject_names rows; /* names for rows of probes; otherwise only the kind */
	char **series;             /* TYPE[-INSTANCE], sorted */
	size_t count;
	bool has_labels; /* a slash in a name stands for any label */
};

/* The series of all open tables; no two tables dispatch the same one. */
struct registry {
	struct series_set *set;
	size_t count;
};

/* Adds a set and becomes its owner. -EEXIST: another set has one of its series, or two of its own
 * are the same; the error names both. -ENOMEM. On failure the set is emptied. */
int registry_enter(struct registry *registry, struct subjects *subjects, struct series_set *set,
		   struct error *error);

/* Removes the series of all tables of an owner. The names of their rows stay reserved, so that no
 * process continues the series of a probe that is off. */
void registry_remove(struct registry *registry, const void *owner);

/* Frees the names of a set that has not been entered. */
void series_set_done(struct series_set *set);

void registry_done(struct registry *registry);

#endif
