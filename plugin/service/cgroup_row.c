/* SPDX-License-Identifier: MIT */
/*
 * Services of cgroups, for maps of others, which know the number of the cgroup alone.
 */
#include "cgroup_row.h"

#include "object/object.h"

#include "bpf/lib/service.h"

#include <bpf/bpf.h>

static int groups = -1, names = -1; /* maps; set before and after all readings */

static int map_of(const struct object *object, const char *name)
{
	const struct bpf_map *map = object ? object_map(object, name) : NULL;

	return map ? bpf_map__fd(map) : -1;
}

void cgroup_rows_of(const struct object *object)
{
	groups = map_of(object, "service_groups");
	names = map_of(object, "service_names");
}

uint32_t cgroup_row(uint64_t cgroup)
{
	const struct group_id id = { .number = cgroup }; /* the hierarchy of cgroup2 is 0 */
	struct service_group known;
	struct service_name name;

	if (bpf_map_lookup_elem(groups, &id, &known) != 0)
		return SERVICE_OTHER;
	if (known.key.kind == GROUP_COMMAND || bpf_map_lookup_elem(names, &known.key, &name) != 0)
		return known.rule;
	return known.rule && known.rule < name.row ? known.rule : name.row;
}
