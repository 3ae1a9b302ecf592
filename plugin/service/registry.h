/* SPDX-License-Identifier: MIT */
#ifndef EBPF_REGISTRY_H
#define EBPF_REGISTRY_H

#include "config/config.h"
#include "subject.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* In a name, this text is any label: labels have no hyphens, and no name has slashes. */
#define SERIES_ANY_LABEL "/"

/* What a table dispatches, and of whom. */
struct series_set {
	const void *owner;
	char probe[CONFIG_NAME_MAX];
	char map[64];
	struct subject_names rows; /* of probes; else the kind alone */
	char **series;             /* TYPE[-INSTANCE], in order */
	size_t count;
	bool has_labels; /* a slash in a name stands for any label */
};

/* Of all tables that are open: no series is dispatched by two. */
struct registry {
	struct series_set *set;
	size_t count;
};

/* Takes a set, with what is in it, and the names of its probe's rows from command names.
 * -EEXIST: another set has one of its series, or two of its own are one; the error names both.
 * -ENOMEM. On failure the set is emptied. */
int registry_enter(struct registry *registry, struct subjects *subjects, struct series_set *set,
		   struct error *error);

/* Gives up the series of all tables of an owner. Their rows' names stay taken, so that no
 * process continues the series of a probe that is off. */
void registry_remove(struct registry *registry, const void *owner);

void series_set_done(struct series_set *set);

void registry_done(struct registry *registry);

#endif
