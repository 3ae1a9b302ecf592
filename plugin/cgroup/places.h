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

#define PLACES_MAX 16384 /* of one hierarchy */

struct service;
struct service_counters;
struct users;

/* Hierarchies in which services have cgroups. Where a controller has none of its own (v1) it is in
 * that of cgroup2. */
enum hierarchy { HIERARCHY_UNIFIED, HIERARCHY_CPU, HIERARCHY_MEMORY, HIERARCHIES };

/* The cgroup of a unit, a user or a container. */
struct place {
	struct group_key key;
	char *path; /* below the root of its hierarchy */
	uint64_t inode;
	uint32_t
		rule; /* the row of the first Service block that has it by Unit or Container, or 0 */
	uint32_t row; /* its row: that of the rule, or that taken for its key; 0: none */
	unsigned looks;
	bool is_new; /* it came after others had been looked for: its counters began at zero */
};

struct place_list {
	bool wanted; /* atomic */
	bool walked; /* since then */
	int root;    /* -1: not open */
	struct place *place;
	size_t count, room;
};

/* Where the services are that are named after units, users and containers, or that have them by the
 * options Unit and Container. */
struct places {
	pthread_mutex_t lock; /* of the lists, held over work in memory alone */
	const struct config *config;
	struct users *users;
	const struct service *rows; /* the kernel's */
	uint32_t row_count;
	uint64_t seen; /* of the kernel's counter of cgroups that it has met */
	uint64_t walked_ns;
	bool unfinished;     /* some were not looked at, or could not be named */
	int status;          /* of the last walk; atomic */
	uint64_t generation; /* another one, other places or rows; atomic */
	struct place_list list[HIERARCHIES];
};

/* config, users and rows stay the caller's. */
void places_init(struct places *places, const struct config *config, struct users *users,
		 const struct service *rows, uint32_t row_count);

/* From the next update on those of a hierarchy are looked for. */
void places_want(struct places *places, enum hierarchy hierarchy);

/* Looks for them again if the kernel has met new cgroups since the last time, or once a minute, and
 * finds their rows. Of one thread at a time, which also may read files. 250 ms at most, and what
 * a file takes. */
void places_update(struct places *places, const struct service_counters *counters,
		   struct file_reader *files, uint64_t now_ns);

/* Gives each that has a row; `take` ends it by a negative errno. */
int places_each(struct places *places, enum hierarchy hierarchy,
		int (*take)(void *to, const struct place *place), void *to);

/* Is a row, that is no Service block's, still that of a key? */
bool places_is_row(const struct places *places, uint32_t row, const struct group_key *key);

/* 0; -E2BIG: there are more cgroups than are looked at; or what the last walk said. */
int places_status(const struct places *places);

void places_done(struct places *places);

#endif
