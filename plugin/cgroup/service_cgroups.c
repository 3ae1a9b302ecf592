/* SPDX-License-Identifier: MIT */
/*
 * The cgroups of services. Directories are listed, from the root of each wanted cgroup_hierarchy, when the kernel has
 * found a new cgroup; otherwise an update only checks which rows the kernel has given to their keys. A list is
 * sorted by key and path.
 */
#include "service_cgroups.h"

#include "bpf/lib/services/service.h"
#include "config/cgroup.h"
#include "description.h"
#include "match.h"
#include "tree.h"
#include "util/clock.h"
#include "util/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REWALK_NS (60 * NS_PER_S)
#define INSPECT_NS_MAX (250 * 1000000ULL)

static const char *const controllers[] = {
	[CGROUP_UNIFIED] = NULL,
	[CGROUP_CPU] = "cpu",
	[CGROUP_MEMORY] = "memory",
};

void service_cgroups_init(struct service_cgroups *cgroups, const struct config *config,
			  struct users *users, struct container_names *containers,
			  const struct service *rows, uint32_t row_count)
{
	*cgroups = (struct service_cgroups){ .config = config,
					     .users = users,
					     .containers = containers,
					     .rows = rows,
					     .row_count = row_count };
	pthread_mutex_init(&cgroups->lock, NULL);
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		cgroups->list[i].root = -1;
}

void service_cgroups_want(struct service_cgroups *cgroups, enum cgroup_hierarchy cgroup_hierarchy)
{
	__atomic_store_n(&cgroups->list[cgroup_hierarchy].wanted, true, __ATOMIC_RELEASE);
}

/* --- listing --- */

static int compare_cgroups(const void *left, const void *right)
{
	const struct service_cgroup *a = left, *b = right;
	int order = memcmp(&a->key, &b->key, sizeof(a->key));

	return order ?: strcmp(a->path, b->path);
}

static int add_cgroup_to_list(void *to, const char *path, uint64_t inode,
			      const struct group_key *key)
{
	struct cgroup_list *list = to;
	struct service_cgroup *cgroup;

	if (list->count == SERVICE_CGROUPS_MAX)
		return -E2BIG;
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct service_cgroup *grown = reallocarray(list->cgroup, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->cgroup = grown;
		list->room = room;
	}
	cgroup = &list->cgroup[list->count];
	*cgroup = (struct service_cgroup){ .key = *key, .path = strdup(path), .inode = inode };
	list->count += cgroup->path != NULL;
	return cgroup->path ? 0 : -ENOMEM;
}

static void cgroup_list_clear(struct cgroup_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->cgroup[i].path);
	free(list->cgroup);
	list->cgroup = NULL;
	list->count = list->room = 0;
}

/* Copies what is known of cgroups that were listed before. true: the lists are the same. */
static bool copy_known_cgroups(const struct cgroup_list *old, struct cgroup_list *new)
{
	bool same = old->count == new->count;
	size_t at = 0;

	for (size_t i = 0; i < new->count; i++) {
		struct service_cgroup *cgroup = &new->cgroup[i];
		const struct service_cgroup *before;

		while (at < old->count && compare_cgroups(&old->cgroup[at], cgroup) < 0)
			at++;
		before = at < old->count ? &old->cgroup[at] : NULL;
		if (!before || compare_cgroups(before, cgroup) != 0 ||
		    before->inode != cgroup->inode) {
			cgroup->is_new = old->walked;
			same = false;
			continue;
		}
		cgroup->rule = before->rule;
		cgroup->row = before->row;
		cgroup->round = before->round;
		cgroup->is_new = before->is_new;
	}
	return same;
}

static int open_hierarchy(struct cgroup_list *list, const char *controller)
{
	bool is_v1;

	if (list->root < 0)
		list->root = cgroup_open("/proc/self/mounts", controller, &is_v1);
	return list->root < 0 ? list->root : 0;
}

static int walk_hierarchy(struct service_cgroups *cgroups, enum cgroup_hierarchy cgroup_hierarchy)
{
	struct cgroup_list *list = &cgroups->list[cgroup_hierarchy], new = { 0 };
	int status = open_hierarchy(list, controllers[cgroup_hierarchy]);

	status = status ?: tree_walk(list->root, add_cgroup_to_list, &new);
	if (status && status != -E2BIG) {
		cgroup_list_clear(&new);
		return status;
	}
	if (new.count)
		qsort(new.cgroup, new.count, sizeof(*new.cgroup), compare_cgroups);
	lock_acquire(&cgroups->lock);
	if (!copy_known_cgroups(list, &new))
		__atomic_fetch_add(&cgroups->generation, 1, __ATOMIC_RELEASE);
	cgroup_list_clear(list);
	list->cgroup = new.cgroup;
	list->count = new.count;
	list->room = new.room;
	list->walked = true;
	lock_release(&cgroups->lock);
	return status;
}

/* --- rows; only the updating thread writes --- */

static bool has_group_options(const struct config *config, bool *ret_needs_names)
{
	bool any = false;

	*ret_needs_names = groups_need_names(config) != 0;
	for (size_t i = 0; i < config->service_count; i++) {
		const struct service_config *service = &config->services[i];

		any |= service->units.count || service->containers.count;
	}
	return any;
}

static uint32_t find_cgroup_rule(const struct service_cgroups *cgroups,
				 const struct service_cgroup *cgroup, bool needs_names,
				 struct file_helper *files)
{
	struct group_description description = { 0 };

	if (needs_names)
		group_describe(&cgroup->key, cgroups->users, cgroups->containers, files,
			       &description);
	return group_row(cgroups->config, &cgroup->key, &description);
}

/* false: the time was up before all had been found. */
static bool find_cgroup_rules(struct service_cgroups *cgroups, struct cgroup_list *list,
			      struct file_helper *files)
{
	uint64_t end_ns = clock_ns() + INSPECT_NS_MAX;
	uint32_t round = cgroups->containers->round;
	bool needs_names;

	if (!has_group_options(cgroups->config, &needs_names))
		return true;
	for (size_t i = 0; i < list->count; i++) {
		struct service_cgroup *cgroup = &list->cgroup[i];
		uint32_t rule;

		if (cgroup->round == round)
			continue;
		if (clock_ns() > end_ns)
			return false;
		rule = find_cgroup_rule(cgroups, cgroup, needs_names, files);
		lock_acquire(&cgroups->lock);
		cgroup->rule = rule;
		cgroup->round = round;
		lock_release(&cgroups->lock);
	}
	return true;
}

/* The first cgroup with a key, or the position where it would be. */
static size_t find_first_cgroup(const struct cgroup_list *list, const struct group_key *key)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(&list->cgroup[middle].key, key, sizeof(*key)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_row_used(const struct service *row)
{
	return __atomic_load_n(&row->flags, __ATOMIC_ACQUIRE) & SERVICE_USED;
}

bool service_cgroups_is_row(const struct service_cgroups *cgroups, uint32_t row,
			    const struct group_key *key)
{
	return row < cgroups->row_count && is_row_used(&cgroups->rows[row]) &&
	       !memcmp(&cgroups->rows[row].key, key, sizeof(*key));
}

/* With the lock held. */
static bool set_cgroup_row(struct service_cgroup *cgroup, uint32_t row)
{
	bool changed = cgroup->row != row;

	cgroup->row = row;
	return changed;
}

static void find_cgroup_rows(struct service_cgroups *cgroups, struct cgroup_list *list)
{
	bool changed = false;

	lock_acquire(&cgroups->lock);
	for (size_t i = 0; i < list->count; i++) {
		struct service_cgroup *cgroup = &list->cgroup[i];

		if (cgroup->rule)
			changed |= set_cgroup_row(cgroup, cgroup->rule);
		else if (cgroup->row && !service_cgroups_is_row(cgroups, cgroup->row, &cgroup->key))
			changed |= set_cgroup_row(cgroup, 0);
	}
	for (uint32_t row = SERVICE_FIRST; row < cgroups->row_count; row++) {
		struct group_key key;

		if (!is_row_used(&cgroups->rows[row]))
			continue;
		key = cgroups->rows[row].key;
		for (size_t i = find_first_cgroup(list, &key);
		     key.kind != GROUP_COMMAND && i < list->count &&
		     !memcmp(&list->cgroup[i].key, &key, sizeof(key));
		     i++)
			if (!list->cgroup[i].rule)
				changed |= set_cgroup_row(&list->cgroup[i], row);
	}
	if (changed)
		__atomic_fetch_add(&cgroups->generation, 1, __ATOMIC_RELEASE);
	lock_release(&cgroups->lock);
}

/* --- updates --- */

static bool is_list_wanted(const struct cgroup_list *list)
{
	return __atomic_load_n(&list->wanted, __ATOMIC_ACQUIRE);
}

static bool walk_is_due(const struct service_cgroups *cgroups, uint64_t found_groups,
			uint64_t now_ns)
{
	bool due = found_groups != cgroups->seen || now_ns - cgroups->walked_ns > REWALK_NS;

	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		due |= is_list_wanted(&cgroups->list[i]) && !cgroups->list[i].walked;
	return due;
}

void service_cgroups_update(struct service_cgroups *cgroups,
			    const struct service_counters *counters, struct file_helper *files,
			    uint64_t now_ns)
{
	uint64_t found_groups = __atomic_load_n(&counters->groups, __ATOMIC_ACQUIRE) +
				__atomic_load_n(&counters->groups_refused, __ATOMIC_ACQUIRE);
	bool due = walk_is_due(cgroups, found_groups, now_ns), found = true;
	int status = 0;

	for (int i = 0; i < CGROUP_HIERARCHIES; i++) {
		struct cgroup_list *list = &cgroups->list[i];

		if (!is_list_wanted(list))
			continue;
		if (due)
			status = walk_hierarchy(cgroups, (enum cgroup_hierarchy)i) ?: status;
		if (due || cgroups->round != cgroups->containers->round)
			found &= find_cgroup_rules(cgroups, list, files);
		find_cgroup_rows(cgroups, list);
	}
	cgroups->round = found ? cgroups->containers->round : 0;
	if (!due)
		return;
	cgroups->seen = found_groups;
	cgroups->walked_ns = now_ns;
	__atomic_store_n(&cgroups->status, status, __ATOMIC_RELAXED);
}

int service_cgroups_each(struct service_cgroups *cgroups, enum cgroup_hierarchy cgroup_hierarchy,
			 int (*visit)(void *to, const struct service_cgroup *cgroup), void *to)
{
	const struct cgroup_list *list = &cgroups->list[cgroup_hierarchy];
	int status = 0;

	lock_acquire(&cgroups->lock);
	for (size_t i = 0; i < list->count && status == 0; i++)
		if (list->cgroup[i].row)
			status = visit(to, &list->cgroup[i]);
	lock_release(&cgroups->lock);
	return status;
}

int service_cgroups_status(const struct service_cgroups *cgroups)
{
	return __atomic_load_n(&cgroups->status, __ATOMIC_RELAXED);
}

void service_cgroups_done(struct service_cgroups *cgroups)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++) {
		cgroup_list_clear(&cgroups->list[i]);
		if (cgroups->list[i].wanted && cgroups->list[i].root >= 0)
			close(cgroups->list[i].root);
	}
	pthread_mutex_destroy(&cgroups->lock);
	*cgroups = (struct service_cgroups){ 0 };
}
