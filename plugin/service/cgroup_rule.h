/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_RULE_H
#define EBPF_CGROUP_RULE_H

#include "config/config.h"
#include "helper/file.h"
#include "object/object.h"
#include "quota.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

struct container_names;
struct fits;
struct service;
struct service_counters;
struct users;

/* Rules for units and containers that the kernel cannot apply itself, and users' containers, which it cannot
 * confirm. */
struct cgroup_rules {
	unsigned sources; /* of what there are some: bits of enum service_source */
	struct users *users;
	struct container_names *containers;
	struct fits *fits;
	const struct service *rows; /* the kernel's */
	uint32_t row_count;
	uint64_t seen;   /* of counters->groups_to_inspect */
	uint32_t round;  /* of the containers' names that all cgroups were inspected by */
	bool unfinished; /* some cgroups were not inspected, or their processes not matched again */
	bool unnamed;    /* the names of some are not known yet */
	struct quotas quotas; /* of users, for inspections */
	uint32_t confirmed;   /* users' containers, in this run */
	bool unconfirmed_logged, limit_logged;
};

/* Lines that fit are noted in fits. users, containers, fits and rows stay the caller's. */
void cgroup_rules_init(struct cgroup_rules *rules, const struct config *config, struct users *users,
		       struct container_names *containers, struct fits *fits,
		       const struct service *rows, uint32_t row_count);

/* Tells the kernel the services of new cgroups and of renamed containers, and has their processes matched again.
 * Errors of scan_run(). */
int cgroup_rules_run(struct cgroup_rules *rules, const struct config *config, struct object *object,
		     const struct service_counters *counters, struct file_helper *files,
		     struct error *error);

#endif
