/* SPDX-License-Identifier: MIT */
/*
 * Unit and Container options with wildcards or with the name of a container, which is not part of a cgroup's path.
 * The kernel remembers the cgroups that it has found. Those of units and containers are inspected here: new ones,
 * and all whenever names may have changed. The row of the service is written to the kernel's entry; then the
 * kernel follows it.
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
		       struct container_names *containers, struct fits *fits)
{
	*rules = (struct cgroup_rules){ .sources = groups_need_names(config),
					.users = users,
					.containers = containers,
					.fits = fits };
}

/* Do its processes have a row only as long as it is pending, or by a rule? */
static bool needs_rule(const struct config *config, const struct service_group *group)
{
	return !(config->services_from & service_source_of(group->key.kind));
}

/* true: its processes have another row now. */
static bool apply_group_rule(struct cgroup_rules *rules, const struct config *config, int fd,
			     const struct group_id *id, struct service_group *group,
			     struct file_helper *files)
{
	struct group_description description;
	uint32_t row, before = rule_of_group(group);
	bool was_pending = group->is_pending;
	int status =
		group_describe(&group->key, rules->users, rules->containers, files, &description);

	if (status == -EAGAIN) {
		rules->unnamed |= was_pending;
		return false;
	}
	fits_group(rules->fits, &group->key, &description);
	row = group_row(config, &group->key, &description);
	if (!was_pending && row == group->named_rule)
		return false;
	group->named_rule = row;
	group->is_pending = false;
	/* The cgroup may have been removed meanwhile. */
	return bpf_map_update_elem(fd, id, group, BPF_EXIST) == 0 &&
	       (rule_of_group(group) != before ||
		(was_pending && !before && needs_rule(config, group)));
}

/* Inspects the cgroups that are pending, or all. Returns how many have another service now. */
static unsigned apply_to_groups(struct cgroup_rules *rules, const struct config *config, int fd,
				bool all, struct file_helper *files)
{
	uint64_t end_ns = clock_ns() + INSPECT_NS_MAX;
	struct group_id id, before, *after = NULL;
	struct service_group group;
	unsigned changed = 0;

	rules->unnamed = false;
	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		if (bpf_map_get_next_key(fd, after, &id) != 0)
			return changed;
		before = id;
		after = &before;
		if (bpf_map_lookup_elem(fd, &id, &group) != 0 ||
		    !(service_source_of(group.key.kind) & rules->sources) ||
		    !(all || group.is_pending))
			continue;
		if (clock_ns() > end_ns)
			break;
		changed += apply_group_rule(rules, config, fd, &id, &group, files);
	}
	rules->unfinished = true;
	return changed;
}

int cgroup_rules_run(struct cgroup_rules *rules, const struct config *config, struct object *object,
		     const struct service_counters *counters, struct file_helper *files,
		     struct error *error)
{
	uint64_t groups = __atomic_load_n(&counters->groups, __ATOMIC_ACQUIRE);
	unsigned changed;
	uint32_t round;
	int status;

	if (!rules->sources)
		return 0;
	round = rules->containers->round;
	if (groups == rules->seen && round == rules->round && !rules->unfinished)
		return 0;
	rules->seen = groups;
	rules->unfinished = false;
	changed = apply_to_groups(rules, config, bpf_map__fd(object_map(object, "service_groups")),
				  round != rules->round, files);
	if (!rules->unfinished)
		rules->round = round;
	if (!changed)
		return 0;
	status = scan_run(object, SCAN_MATCH, 0, NULL, NULL, error);
	rules->unfinished |= status != 0;
	return status;
}
