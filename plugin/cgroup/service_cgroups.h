/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_CGROUPS_H
#define EBPF_SERVICE_CGROUPS_H

#include "config/config.h"
#include "helper/file.h"

#include "bpf/lib/services/group.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVICE_CGROUPS_MAX 16384 /* of one cgroup_hierarchy */

struct container_names;
struct service;
struct service_counters;
struct users;

/* Hierarchies with files of services. A controller without a cgroup_hierarchy of its own (v1) is in that of
 * cgroup2. */
enum cgroup_hierarchy { CGROUP_UNIFIED, CGROUP_CPU, CGROUP_MEMORY, CGROUP_HIERARCHIES };

/* A cgroup of a unit, a user or a container. */
struct service_cgroup {
	struct group_key key;
	char *path; /* relative to the root of its cgroup_hierarchy */
	uint64_t inode;
	uint32_t rule;  /* row of the first Service block with it as Unit or Container, or 0 */
	uint32_t row;   /* that of the rule, else the one of the key in the kernel; 0: none */
	uint32_t round; /* of the containers' names that the rule was found by, 0: not found yet */
	bool is_new;    /* created after the first walk, so its counters started at zero */
};

struct cgroup_list {
	bool wanted; /* atomic */
	bool walked; /* since it is wanted */
	int root;    /* -1: not open */
	struct service_cgroup *cgroup;
	size_t count, room;
};

/* The cgroups of services that are named after units, users and containers, or that have some by the options
 * Unit and Container. */
struct service_cgroups {
	pthread_mutex_t lock; /* of the lists; held only over work in memory */
	const struct config *config;
	struct users *users;
	struct container_names *containers;
	const struct service *rows; /* the kernel's */
	uint32_t row_count;
	uint64_t seen; /* the kernel's counter of found cgroups, at the last walk */
	uint64_t walked_ns;
	uint32_t round;      /* of the containers' names that the rules of all are found by */
	int status;          /* of the last walk; atomic */
	uint64_t generation; /* changes with the cgroups or their rows; atomic */
	struct cgroup_list list[CGROUP_HIERARCHIES];
};

/* config, users, containers and rows stay the caller's. */
void service_cgroups_init(struct service_cgroups *service_cgroups, const struct config *config,
			  struct users *users, struct container_names *containers,
			  const struct service *rows, uint32_t row_count);

/* From the next update on the cgroups of this cgroup_hierarchy are listed. */
void service_cgroups_want(struct service_cgroups *service_cgroups,
			  enum cgroup_hierarchy cgroup_hierarchy);

/* Walks the hierarchies if the kernel has found new cgroups since the last walk, or once a minute, and finds
 * the rows of all cgroups, again if the names of containers have changed. One thread at a time, which also may
 * read files. Takes 250 ms at most, plus the reading of one file. */
void service_cgroups_update(struct service_cgroups *service_cgroups,
			    const struct service_counters *counters, struct file_helper *files,
			    uint64_t now_ns);

/* Visits each cgroup that has a row; a negative errno of `visit` ends it. */
int service_cgroups_each(struct service_cgroups *service_cgroups,
			 enum cgroup_hierarchy cgroup_hierarchy,
			 int (*visit)(void *to, const struct service_cgroup *service_cgroup),
			 void *to);

/* Does a row, not one of a Service block, still belong to this key? */
bool service_cgroups_is_row(const struct service_cgroups *service_cgroups, uint32_t row,
			    const struct group_key *key);

/* 0; -E2BIG: there are more cgroups than the limit; or the error of the last walk. */
int service_cgroups_status(const struct service_cgroups *service_cgroups);

void service_cgroups_done(struct service_cgroups *service_cgroups);

#endif
