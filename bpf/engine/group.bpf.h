/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The unit, user or container of a process, and the row that a Cgroup option gives it. Both are
 * derived from the path of its cgroup when the cgroup is first seen, and stored until the cgroup is
 * removed. Where controllers have hierarchies of their own (v1), these are checked before that of
 * cgroup2, in which every process may be in the root.
 */
#ifndef ENGINE_GROUP_BPF_H
#define ENGINE_GROUP_BPF_H

#include "row.bpf.h"
#include "services/service_group.bpf.h"

#define GROUP_SLOTS 64
#define GROUP_SLOT_TRIES 8

const volatile bool cgroup_rules = false;
const volatile bool group_keys = false; /* services are named by units or containers */
const volatile u32 named_by_engine =
	0; /* bits of enum service_source: kinds whose rules need names that only the engine can find */
const volatile bool user_containers =
	false; /* those that the engine confirms are services of their own */

enum cgroup_subsys_id___group {
	memory_cgrp_id___group,
	pids_cgrp_id___group,
};

enum hierarchy {
	HIERARCHY_PIDS,
	HIERARCHY_MEMORY,
	HIERARCHY_UNIFIED,
};

HASH(service_cgroups, struct cgroup_step, struct cgroup_node, 1);

/* Buffers for parsing a path, which are too large for the stack. */
struct group_slot {
	u32 busy;
	struct group_walk walk;
	struct cgroup_step step;
	struct service_group group;
};

ARRAY(group_slots, struct group_slot, GROUP_SLOTS);

/* --- parsing a path --- */

/* State of the way from the root down to a cgroup. */
struct descent {
	struct cgroup *group;
	struct group_slot *slot;
	bool rules_end, key_known;
};

/* Applies the rules to one directory of the path; of several rules the lowest row wins. */
static void match_step(struct descent *d, const char *name)
{
	struct group_slot *slot = d->slot;
	struct cgroup_node *node;

	__builtin_memset(slot->step.name, 0, sizeof(slot->step.name));
	bpf_probe_read_kernel_str(slot->step.name, sizeof(slot->step.name), name);
	node = bpf_map_lookup_elem(&service_cgroups, &slot->step);
	if (!node) {
		d->rules_end = true;
		return;
	}
	node->fitted = 1;
	slot->group.rule = first_row(node->row, slot->group.rule);
	slot->step.parent = node->node;
}

/* Global, so that the verifier checks it once. 1: the key is final, see group_step(). */
__noinline int group_parse_name(struct group_walk *walk)
{
	return walk ? group_step(walk) : 1;
}

static void key_step(struct descent *d, const char *name)
{
	struct group_walk *walk = &d->slot->walk;
	long length = bpf_probe_read_kernel_str(walk->name, sizeof(walk->name), name);

	if (length < 1 || length > (long)sizeof(walk->name)) {
		d->key_known = true;
		return;
	}
	walk->length = length - 1;
	d->key_known = group_parse_name(walk) || (walk->key.kind == GROUP_USER && !user_containers);
}

static long descend_path(u32 i, struct descent *d)
{
	struct cgroup *at = cgroup_ancestor(d->group, i + 1);
	const char *name = BPF_CORE_READ(at, kn, name);

	if (!d->rules_end)
		match_step(d, name);
	if (!d->key_known)
		key_step(d, name);
	return ends_loop(d->rules_end && d->key_known);
}

static struct group_slot *group_slot_claim(void)
{
	u32 begin = bpf_get_smp_processor_id();

	for (u32 i = 0; i < GROUP_SLOT_TRIES; i++) {
		u32 at = (begin * GROUP_SLOT_TRIES + i) % GROUP_SLOTS;
		struct group_slot *slot = bpf_map_lookup_elem(&group_slots, &at);

		if (slot && !__sync_lock_test_and_set(&slot->busy, 1))
			return slot;
	}
	return NULL;
}

static void group_slot_release(struct group_slot *slot)
{
	__sync_lock_test_and_set(&slot->busy, 0);
}

static bool has_to_be_inspected(u32 kind)
{
	return kind == GROUP_USER_CONTAINER || service_source_of(kind) & named_by_engine;
}

static void read_path(struct cgroup *group, struct group_slot *slot)
{
	struct descent d = {
		.group = group,
		.slot = slot,
		.rules_end = !cgroup_rules,
		.key_known = !group_keys,
	};
	u32 levels = BPF_CORE_READ(group, level);

	__builtin_memset(&slot->walk.key, 0, sizeof(slot->walk.key));
	slot->walk.parent = 0;
	slot->walk.begin = 0;
	slot->step.parent = 0;
	slot->group.rule = 0;
	if (kernel_has_loop()) /* without it no path can be parsed, which the engine reports */
		bpf_loop(levels < CGROUP_DEPTH_MAX ? levels : CGROUP_DEPTH_MAX, descend_path, &d,
			 0);
	slot->group.key = slot->walk.key;
	slot->group.named_rule = 0;
	slot->group.is_pending = has_to_be_inspected(slot->group.key.kind);
}

/* --- stored results --- */

/* Does not store a cgroup that is being removed, which may still have a zombie in it: nothing would
 * delete the entry. */
static void remember_group(struct cgroup *group, const struct group_id *id,
			   struct service_group *known)
{
	if (!(BPF_CORE_READ(group, self.flags) & CSS_ONLINE))
		return;
	if (bpf_map_update_elem(&service_groups, id, known, BPF_ANY) != 0) {
		add(&service_counters.groups_refused, 1);
		return;
	}
	add(&service_counters.groups, 1);
	if (known->is_pending)
		add(&service_counters.groups_to_inspect, 1);
}

/* Parses and stores the cgroup at this address if it is new; returns the kind of its key. Global,
 * so that the verifier checks it once. */
__noinline u32 group_discover(u64 cgroup)
{
	struct cgroup *group = (void *)cgroup;
	struct group_id id = group_id_of(group);
	struct service_group *known = bpf_map_lookup_elem(&service_groups, &id);
	struct group_slot *slot;
	u32 kind;

	if (known)
		return known->key.kind;
	slot = group_slot_claim();
	if (!slot) {
		add(&service_counters.groups_refused, 1);
		return GROUP_COMMAND;
	}
	read_path(group, slot);
	remember_group(group, &id, &slot->group);
	kind = slot->group.key.kind;
	group_slot_release(slot);
	return kind;
}

static struct cgroup *cgroup_of_controller(struct css_set *set, u64 controller)
{
	struct cgroup_subsys_state *state = NULL;
	struct cgroup *group;

	bpf_probe_read_kernel(&state, sizeof(state),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      controller * sizeof(state));
	group = BPF_CORE_READ(state, cgroup);
	return BPF_CORE_READ(group, root) == BPF_CORE_READ(set, dfl_cgrp, root) ? NULL : group;
}

/* NULL: the controller has no hierarchy of its own. */
static __always_inline struct cgroup *cgroup_of(struct css_set *set, enum hierarchy hierarchy)
{
	if (hierarchy == HIERARCHY_UNIFIED)
		return BPF_CORE_READ(set, dfl_cgrp);
	if (hierarchy == HIERARCHY_PIDS &&
	    bpf_core_enum_value_exists(enum cgroup_subsys_id___group, pids_cgrp_id___group))
		return cgroup_of_controller(set, bpf_core_enum_value(enum cgroup_subsys_id___group,
								     pids_cgrp_id___group));
	if (hierarchy == HIERARCHY_MEMORY &&
	    bpf_core_enum_value_exists(enum cgroup_subsys_id___group, memory_cgrp_id___group))
		return cgroup_of_controller(set, bpf_core_enum_value(enum cgroup_subsys_id___group,
								     memory_cgrp_id___group));
	return NULL;
}

/* 6.1 rejects a loop whose body ends with a call of a global function, so the hierarchies are
 * checked one by one. */

static __always_inline bool discover_in(struct css_set *set, enum hierarchy hierarchy)
{
	struct cgroup *group = cgroup_of(set, hierarchy);

	return group && group_discover((u64)group) != GROUP_COMMAND;
}

/* Parses and stores the new ones among the cgroups of the css_set at this address. Global, so that
 * the verifier checks it once. */
__noinline int groups_discover(u64 cgroups)
{
	struct css_set *set = (void *)cgroups;

	return discover_in(set, HIERARCHY_PIDS) || discover_in(set, HIERARCHY_MEMORY) ||
	       discover_in(set, HIERARCHY_UNIFIED);
}

/* What the cgroups of a process say about its row. */
struct group_found {
	u32 row;         /* the lowest row that a rule gives, or 0 */
	bool is_pending; /* the engine has not yet checked the rules that need names */
};

static void group_in(struct css_set *set, enum hierarchy hierarchy, struct group_key *key,
		     struct group_found *found)
{
	struct cgroup *group = cgroup_of(set, hierarchy);
	struct service_group *known;
	struct group_id id;

	if (!group || key->kind != GROUP_COMMAND)
		return;
	id = group_id_of(group);
	known = bpf_map_lookup_elem(&service_groups, &id);
	if (!known)
		return;
	*key = service_group_key(known);
	found->is_pending = known->is_pending && service_source_of(key->kind) & named_by_engine;
	found->row = first_row(found->row, rule_of_group(known));
}

/* The key of the first hierarchy that has one; GROUP_COMMAND: none has, or its cgroup could not be
 * stored. */
static struct group_found group_of_process(struct css_set *set, struct group_key *ret_key)
{
	struct group_found found = {};

	ret_key->kind = GROUP_COMMAND;
	group_in(set, HIERARCHY_PIDS, ret_key, &found);
	group_in(set, HIERARCHY_MEMORY, ret_key, &found);
	group_in(set, HIERARCHY_UNIFIED, ret_key, &found);
	return found;
}

static bool is_in_group(struct css_set *set, enum hierarchy hierarchy, const struct group_id *id)
{
	struct cgroup *group = cgroup_of(set, hierarchy);
	struct group_id own;

	if (!group)
		return false;
	own = group_id_of(group);
	return own.number == id->number && own.hierarchy == id->hierarchy;
}

/* Is this cgroup, of whatever hierarchy, one that decides about the row of a process? */
static bool group_counts(struct css_set *set, struct cgroup *group)
{
	struct group_id id = group_id_of(group);

	return is_in_group(set, HIERARCHY_PIDS, &id) || is_in_group(set, HIERARCHY_MEMORY, &id) ||
	       is_in_group(set, HIERARCHY_UNIFIED, &id);
}

static void group_forget(struct cgroup *group)
{
	struct group_id id = group_id_of(group);

	bpf_map_delete_elem(&service_groups, &id);
}

#endif
