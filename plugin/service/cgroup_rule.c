/* SPDX-License-Identifier: MIT */
/*
 * Unit and Container options with wildcards or with the name of a container, which is not part of a cgroup's path.
 * The kernel remembers the cgroups that it has found. Those of units and containers are inspected here, each once,
 * and the row of the service is written to the kernel's entry; then the kernel follows it.
 */
#include "cgroup_rule.h"

#include "cgroup/match.h"
#include "fit.h"
#include "scan.h"
#include "util/clock.h"

#include "bpf/lib/services/service.h"

#include <bpf/bpf.h>
#include <errno.h>

#define GROUPS_MAX 65536 /* of one pass; the map has fewer */
#define INSPECT_NS_MAX (250 * 1000000ULL)

void cgroup_rules_init(struct cgroup_rules *rules, const struct config *config, struct users *users,
		       struct fits *fits)
{
	*rules = (struct cgroup_rules){ .any = groups_need_names(config) != 0,
					.users = users,
					.fits = fits };
}

/* 1: its processes have another row now; 0: they do not; -EAGAIN: its name is not known yet. */
static int apply_group_rule(const struct cgroup_rules *rules, const struct config *config, int fd,
			    const struct group_id *id, struct service_group *group,
			    struct file_helper *files)
{
	struct group_description description;
	bool retry = group_describe(&group->key, rules->users, files, &description) == -EAGAIN;
	bool is_source = config->services_from & service_source_of(group->key.kind);
	bool was_pending = !group->rule && !is_source;
	uint32_t row;

	group->inspections_left = retry ? group->inspections_left - 1 : 0;
	if (group->inspections_left) {
		bpf_map_update_elem(fd, id, group, BPF_EXIST);
		return -EAGAIN;
	}
	fits_group(rules->fits, &group->key, &description);
	row = group_row(config, &group->key, &description);
	if (row && (!group->rule || row < group->rule))
		group->rule = row;
	else
		row = 0;
	/* The cgroup may have been removed meanwhile. */
	return bpf_map_update_elem(fd, id, group, BPF_EXIST) == 0 && (row || was_pending);
}

/* Returns how many cgroups have another service now. */
static unsigned apply_to_new_groups(struct cgroup_rules *rules, const struct config *config, int fd,
				    struct file_helper *files)
{
	uint64_t end_ns = clock_ns() + INSPECT_NS_MAX;
	struct group_id id, before, *after = NULL;
	struct service_group group;
	unsigned changed = 0;

	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		if (bpf_map_get_next_key(fd, after, &id) != 0)
			return changed;
		before = id;
		after = &before;
		if (bpf_map_lookup_elem(fd, &id, &group) != 0 || group.inspections_left == 0)
			continue;
		if (clock_ns() > end_ns)
			break;
		switch (apply_group_rule(rules, config, fd, &id, &group, files)) {
		case 1:
			changed++;
			break;
		case -EAGAIN:
			rules->unfinished = true;
		}
	}
	rules->unfinished = true;
	return changed;
}

int cgroup_rules_run(struct cgroup_rules *rules, const struct config *config, struct object *object,
		     const struct service_counters *counters, struct file_helper *files,
		     struct error *error)
{
	uint64_t groups = __atomic_load_n(&counters->groups, __ATOMIC_ACQUIRE);
	int status;

	if (!rules->any || (groups == rules->seen && !rules->unfinished))
		return 0;
	rules->seen = groups;
	rules->unfinished = false;
	if (!apply_to_new_groups(rules, config, bpf_map__fd(object_map(object, "service_groups")),
				 files))
		return 0;
	status = scan_run(object, SCAN_MATCH, 0, NULL, NULL, error);
	rules->unfinished |= status != 0;
	return status;
}
