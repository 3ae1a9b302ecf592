/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_NAME_H
#define EBPF_CGROUP_NAME_H

#include "schema/label_names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_NAMES_SETS 128
#define CGROUP_NAMES_WAYS 8
#define CGROUP_NAMES_MAX (CGROUP_NAMES_SETS * CGROUP_NAMES_WAYS)

/* The names of cgroups that were looked up last. */
struct cgroup_names {
	pthread_mutex_t lock; /* of entries and look-ups */
	struct cgroup_entry {
		uint64_t id;
		uint64_t used;  /* the look-up that used it last; 0: the entry is free */
		bool is_wanted; /* the next refresh finds the name */
		char *name;     /* NULL: there is none */
	} entry[CGROUP_NAMES_SETS][CGROUP_NAMES_WAYS];
	uint64_t lookups;
	bool is_open; /* the first refresh with a pending name opens it */
	int root;     /* of cgroup2 */
};

void cgroup_names_init(struct cgroup_names *names);

/* Opens the cgroups whose names are pending. After that each has a name, or is known to have none.
 * One thread at a time, which holds no lock. */
void cgroup_names_refresh(struct cgroup_names *names);

/* Writes the path of the cgroup with this number (bpf_get_current_cgroup_id), relative to the root of
 * cgroup2, which itself is "root". NAME_NONE: there is no such cgroup, or CAP_DAC_READ_SEARCH is
 * missing. NAME_PENDING: a look-up after the next refresh finds the name, or, if more cgroups are
 * pending than the table has room for, after a later one. Any thread; opens no file. */
enum name_state cgroup_name(struct cgroup_names *names, uint64_t id, char *to, size_t size);

void cgroup_names_done(struct cgroup_names *names);

#endif
