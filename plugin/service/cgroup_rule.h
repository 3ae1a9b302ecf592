/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_RULE_H
#define EBPF_CGROUP_RULE_H

#include "config/config.h"
#include "helper/file.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

struct container_names;
struct fits;
struct service_counters;
struct users;

/* Rules for units and containers that the kernel cannot apply itself. */
struct cgroup_rules {
	unsigned sources; /* of what there are some, as of groups_need_names() */
	struct users *users;
	struct container_names *containers;
	struct fits *fits;
	uint64_t seen;   /* of counters->groups */
	uint32_t round;  /* of the containers' names that all cgroups were inspected by */
	bool unfinished; /* some cgroups were not inspected, or their processes not matched again */
	bool unnamed;    /* the names of some are not known yet */
};

/* Lines that fit are noted in fits. users, containers and fits stay the caller's. */
void cgroup_rules_init(struct cgroup_rules *rules, const struct config *config, struct users *users,
		       struct container_names *containers, struct fits *fits);

/* Tells the kernel the services of new cgroups and of renamed containers, and has their processes matched again. Errors of scan_run(). */
int cgroup_rules_run(struct cgroup_rules *rules, const struct config *config, struct object *object,
		     const struct service_counters *counters, struct file_helper *files,
		     struct error *error);

#endif
