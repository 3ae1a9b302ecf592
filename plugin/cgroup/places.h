/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PLACES_H
#define EBPF_PLACES_H

#include "config/config.h"
#include "helper/file.h"

#include "bpf/lib/group.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVICE_CGROUPS_MAX 16384 /* of one hierarchy */

struct service;
struct service_counters;
struct users;

/* Hierarchies with files of services. A controller without a hierarchy of its own (v1) is in that of
 * cgroup2. */
enum hierarchy { HIERARCHY_UNIFIED, HIERARCHY_CPU, HIERARCHY_MEMORY, HIERARCHIES };

/* A cgroup of a unit, a user or a container. */
struct place {
	struct group_key key;
	char *path; /* relative to the root of its hierarchy */
	uint64_t inode;
	uint32_t rule; /* row of the first Service block with it as Unit or Container, or 0 */
	uint32_t row;  /* that of the rule, else the one of the key in the kernel; 0: none */
	unsigned inspections;
	bool is_new; /* created after the first walk, so its counters started at zero */
};

struct cgroup_list {
	bool wanted; /* atomic */
	bool walked; /* since it is wanted */
	int root;    /* -1: not open */
	struct place *cgroup;
	size_t count, room;
};

/* The cgroups of services that are named after units, users and containers, or that have some by the options
 * Unit and Container. */
struct places {
	pthread_mutex_t lock; /* of the lists; held only over work in memory */
	const struct config *config;
	struct users *users;
	const struct service *rows; /* the kernel's */
	uint32_t row_count;
	uint64_t seen; /* the kernel's counter of found cgroups, at the last walk */
	uint64_t walked_ns;
	bool unfinished;     /* some were not inspected, or could not be named */
	int status;          /* of the last walk; atomic */
	uint64_t generation; /* changes with the cgroups or their rows; atomic */
	struct cgroup_list list[HIERARCHIES];
};

/* config, users and rows stay the caller's. */
void places_init(struct places *places, const struct config *config, struct users *users,
		 const struct service *rows, uint32_t row_count);

/* From the next update on the cgroups of this hierarchy are listed. */
void places_want(struct places *places, enum hierarchy hierarchy);

/* Walks the hierarchies if the kernel has found new cgroups since the last walk, or once a minute, and finds
 * the rows of all cgroups. One thread at a time, which also may read files. Takes 250 ms at most, plus the
 * reading of one file. */
void places_update(struct places *places, const struct service_counters *counters,
		   struct file_reader *files, uint64_t now_ns);

/* Visits each cgroup that has a row; a negative errno of `visit` ends it. */
int places_each(struct places *places, enum hierarchy hierarchy,
		int (*visit)(void *to, const struct place *place), void *to);

/* Does a row, not one of a Service block, still belong to this key? */
bool places_is_row(const struct places *places, uint32_t row, const struct group_key *key);

/* 0; -E2BIG: there are more cgroups than the limit; or the error of the last walk. */
int places_status(const struct places *places);

void places_done(struct places *places);

#endif
