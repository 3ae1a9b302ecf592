/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which service a cgroup belongs to: for events for which the kernel knows the cgroup but no task,
 * such as write-back of dirty pages.
 */
#ifndef SERVICE_GROUP_BPF_H
#define SERVICE_GROUP_BPF_H

#include "kernel/cgroup.bpf.h"
#include "service.bpf.h"

/* Cgroups with processes. Users can make more cgroups than there is room for: then the least
 * recently used entry is removed, and discovered again when needed. */
LRU_HASH(service_groups, struct group_id, struct service_group, 4096) SHARED(2);

/* The rows of units, users, containers and commands. */
HASH(service_names, struct group_key, struct service_name, 1) SHARED(2);

static inline struct group_id group_id_of(struct cgroup *group)
{
	return (struct group_id){
		.number = BPF_CORE_READ(group, kn, id),
		.hierarchy = BPF_CORE_READ(group, root, hierarchy_id),
	};
}

/* 0: no row has this key. */
static inline u32 service_of_key(const struct group_key *key)
{
	const struct service_name *name = bpf_map_lookup_elem(&service_names, key);

	return name ? name->row : 0;
}

/* A container of a user counts for the user until the engine has confirmed it. */
static inline struct group_key service_group_key(const struct service_group *known)
{
	struct group_key key = known->key;

	if (key.kind == GROUP_USER_CONTAINER && known->is_pending)
		group_key_to_user(&key);
	return key;
}

/* 0: no known service, as for the root. */
static inline u32 service_of_group(struct cgroup *group)
{
	struct group_id id = group_id_of(group);
	const struct service_group *known = bpf_map_lookup_elem(&service_groups, &id);
	struct group_key key;

	if (!known || known->key.kind == GROUP_COMMAND)
		return known ? rule_of_group(known) : 0;
	key = service_group_key(known);
	return first_row(rule_of_group(known), service_of_key(&key));
}

#endif
