/* SPDX-License-Identifier: MIT */
/*
 * The service of a cgroup, for maps of foreign programs that know nothing but the number of the cgroup.
 */
#include "cgroup_row.h"

#include "object/object.h"

#include "bpf/lib/services/service.h"

#include <bpf/bpf.h>

static int find_map_fd(const struct object *object, const char *name)
{
	const struct bpf_map *map = object_map(object, name);

	return map ? bpf_map__fd(map) : -1;
}

void cgroup_rows_init(struct cgroup_rows *rows, const struct object *object)
{
	rows->groups = find_map_fd(object, "service_groups");
	rows->names = find_map_fd(object, "service_names");
}

uint32_t cgroup_row(const struct cgroup_rows *rows, uint64_t cgroup)
{
	const struct group_id id = { .number = cgroup }; /* the hierarchy of cgroup2 is 0 */
	struct service_group group;
	struct service_name name = { 0 };

	if (bpf_map_lookup_elem(rows->groups, &id, &group) != 0)
		return SERVICE_OTHER;
	if (group.key.kind != GROUP_COMMAND)
		bpf_map_lookup_elem(rows->names, &group.key, &name);
	return first_row(rule_of_group(&group), name.row);
}
