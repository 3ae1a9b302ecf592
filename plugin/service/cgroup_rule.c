/* SPDX-License-Identifier: MIT */
/*
 * Unit and Container options with wildcards or with the name of a container, which is not part of a cgroup's path.
 * The kernel remembers the cgroups that it has found. Those of units and containers are inspected here: new ones,
 * and all whenever names may have changed. The row of the service is written to the kernel's entry; then the
 * kernel follows it.
 *
 * Any user may make a cgroup with a container's id. It is the user's until it is confirmed here, and stays so if no
 * state of that user has the id, or if the user has a large part of all rows already. So ids that were made up never
 * get a row. Each user has a quota of a run's time.
 */
#include "cgroup_rule.h"

#include "cgroup/match.h"
#include "fit.h"
#include "scan.h"
#include "util/clock.h"

#include "bpf/lib/services/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 65536 /* of one pass; the map has fewer */
#define INSPECT_NS_MAX (250 * 1000000ULL)
#define USER_PART 4 /* of MaxServices, for the containers of one user */

void cgroup_rules_init(struct cgroup_rules *rules, const struct config *config, struct users *users,
		       struct container_names *containers, struct fits *fits,
		       const struct service *rows, uint32_t row_count)
{
	*rules = (struct cgroup_rules){
		.sources = groups_need_names(config),
		.users = users,
		.containers = containers,
		.fits = fits,
		.rows = rows,
		.row_count = row_count,
	};
	if (groups_have_user_containers(config))
		rules->sources |= SERVICES_FROM_CONTAINERS;
}

/* --- containers of users --- */

static uint32_t user_of_key(const struct group_key *key)
{
	return (uint32_t)strtoul(key->text + strlen("user-"), NULL, 10);
}

/* How many rows the containers of this one's user have, without its own. */
static uint32_t count_user_rows(const struct cgroup_rules *rules, const struct group_key *key)
{
	uint32_t count = 0;

	for (uint32_t i = SERVICE_FIRST; i < rules->row_count; i++) {
		const struct service *row = &rules->rows[i];

		count += __atomic_load_n(&row->flags, __ATOMIC_ACQUIRE) & SERVICE_USED &&
			 row->key.kind == GROUP_USER_CONTAINER &&
			 !memcmp(row->key.text, key->text, GROUP_USER_SIZE) &&
			 memcmp(&row->key, key, sizeof(*key)) != 0;
	}
	return count;
}

static void log_unconfirmed(struct cgroup_rules *rules, const struct group_key *key,
			    const struct group_description *description)
{
	if (rules->unconfirmed_logged)
		return;
	rules->unconfirmed_logged = true;
	message(LOG_NOTICE,
		"%s: no state of podman, docker or containerd in the user's home has the container "
		"%.12s: it counts for the user, as do other such containers",
		description->name, key->text + GROUP_USER_SIZE);
}

static void log_user_limit(struct cgroup_rules *rules, const struct group_key *key, uint32_t most)
{
	if (rules->limit_logged)
		return;
	rules->limit_logged = true;
	message(LOG_WARNING,
		"%s: more than %u containers of one user, a quarter of MaxServices: further ones "
		"count for the user; raise MaxServices to tell them apart",
		key->text, most);
}

/* May the container have a row of its own? -EAGAIN: it is to be asked again when those that were confirmed in
 * this run have theirs. */
static int may_user_container_have_row(struct cgroup_rules *rules, const struct config *config,
				       const struct group_key *key,
				       const struct group_description *description)
{
	uint32_t most = config->max_services / USER_PART, count;

	if (description->is_unconfirmed)
		log_unconfirmed(rules, key, description);
	if (description->is_unconfirmed || !(config->services_from & SERVICES_FROM_CONTAINERS))
		return false;
	count = count_user_rows(rules, key);
	if (count >= most)
		log_user_limit(rules, key, most);
	if (count < most && count + rules->confirmed >= most)
		return -EAGAIN;
	rules->confirmed += count < most;
	return count < most;
}

/* The row of the block that has the user's slice as Unit, or 0. */
static uint32_t find_user_row(const struct cgroup_rules *rules, const struct config *config,
			      const struct group_key *key, struct file_helper *files)
{
	struct group_description description;
	struct group_key user = *key;

	group_key_to_user(&user);
	group_describe(&user, rules->users, rules->containers, files, &description);
	fits_group(rules->fits, &user, &description);
	return group_row(config, &user, &description);
}

/* --- rules --- */

static uint32_t find_rule_row(const struct cgroup_rules *rules, const struct config *config,
			      const struct group_key *key,
			      const struct group_description *description,
			      struct file_helper *files)
{
	uint32_t row = group_row(config, key, description), user_row = 0;

	fits_group(rules->fits, key, description);
	if (key->kind == GROUP_USER_CONTAINER)
		user_row = find_user_row(rules, config, key, files);
	return user_row && (!row || user_row < row) ? user_row : row;
}

/* Do processes with a key of this kind have a row only by a rule? */
static bool needs_rule(const struct config *config, uint32_t kind)
{
	return !(config->services_from & service_source_of(kind));
}

/* Decides whether a user's container that no rule fits has a row of its own. Otherwise its key becomes the user's, as
 * does that of an id which no state has. *ret_has_row: it has one. false: it is decided in the next run. */
static bool decide_user_container(struct cgroup_rules *rules, const struct config *config,
				  struct service_group *group, uint32_t row,
				  const struct group_description *description, bool *ret_has_row)
{
	int has_row = 0;

	if (!row && !group->rule)
		has_row = may_user_container_have_row(rules, config, &group->key, description);
	if (has_row == -EAGAIN)
		return false;
	if (description->is_unconfirmed || (!row && !group->rule && !has_row))
		group_key_to_user(&group->key);
	*ret_has_row = has_row;
	return true;
}

/* true: its processes have another row now. */
static bool apply_group_rule(struct cgroup_rules *rules, const struct config *config, int fd,
			     const struct group_id *id, struct service_group *group,
			     struct file_helper *files)
{
	bool is_of_user = group->key.kind == GROUP_USER_CONTAINER, has_row = false;
	bool was_pending = group->is_pending;
	uint32_t row, before = rule_of_group(group);
	/* Until it is confirmed, its processes have the user's key. */
	bool waits = was_pending && !before &&
		     needs_rule(config, is_of_user ? GROUP_USER : group->key.kind);
	struct group_description description;
	int status =
		group_describe(&group->key, rules->users, rules->containers, files, &description);

	if (status == -EAGAIN) {
		rules->unnamed |= was_pending;
		return false;
	}
	row = find_rule_row(rules, config, &group->key, &description, files);
	if (!was_pending && row == group->named_rule)
		return false;
	if (is_of_user &&
	    !decide_user_container(rules, config, group, row, &description, &has_row)) {
		rules->unfinished = true;
		return false;
	}
	group->named_rule = row;
	group->is_pending = false;
	/* The cgroup may have been removed meanwhile. */
	return bpf_map_update_elem(fd, id, group, BPF_EXIST) == 0 &&
	       (rule_of_group(group) != before || waits || has_row);
}

/* The same within the quota of a user. */
static bool apply_in_time(struct cgroup_rules *rules, const struct config *config, int fd,
			  const struct group_id *id, struct service_group *group,
			  struct file_helper *files)
{
	struct inspection_start inspection = inspection_begin();
	uint32_t uid = user_of_key(&group->key);
	bool changed;

	if (group->key.kind != GROUP_USER_CONTAINER)
		return apply_group_rule(rules, config, fd, id, group, files);
	if (quotas_are_used_up(&rules->quotas, uid)) {
		rules->unfinished = true;
		return false;
	}
	changed = apply_group_rule(rules, config, fd, id, group, files);
	quotas_spend(&rules->quotas, uid, inspection_cost(&inspection));
	return changed;
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
	rules->confirmed = 0;
	quotas_start(&rules->quotas, clock_ns());
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
		changed += apply_in_time(rules, config, fd, &id, &group, files);
	}
	rules->unfinished = true;
	return changed;
}

int cgroup_rules_run(struct cgroup_rules *rules, const struct config *config, struct object *object,
		     const struct service_counters *counters, struct file_helper *files,
		     struct error *error)
{
	uint64_t groups = __atomic_load_n(&counters->groups_to_inspect, __ATOMIC_ACQUIRE);
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
