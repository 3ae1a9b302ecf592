/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of control groups and of the memory charged to them.
 */
#ifndef KERNEL_CGROUP_BPF_H
#define KERNEL_CGROUP_BPF_H

#include "kernel.bpf.h"

#define CSS_ONLINE 0x2

#define CGROUP_ANCESTORS_MAX 32 /* followed upwards where the kernel has no array of ancestors */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cgroup;

struct kernfs_node {
	const char *name;
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
	unsigned int flags;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
	int level;
	struct cgroup *ancestors[1]; /* level + 1 entries, the last is the cgroup itself */
};

struct css_set {
	struct cgroup *dfl_cgrp;
	struct cgroup_subsys_state *subsys[1]; /* indexed by controller */
};

struct page_counter {
	atomic_long_t usage;
	unsigned long max;
	struct page_counter *parent;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
	struct page_counter memsw; /* memory and swap, version 1 */
};

#pragma clang attribute pop

/* The ancestor of a cgroup at this level, 0 is the root. 6.1 keeps them in an array: 7f203bc89eb6
 * ("cgroup: Replace cgroup->ancestor_ids[] with ->ancestors[]"). On older kernels ancestors more
 * than CGROUP_ANCESTORS_MAX levels above are out of reach. */
static inline struct cgroup *cgroup_ancestor(struct cgroup *group, int depth)
{
	struct cgroup *found = NULL;

	if (bpf_core_field_exists(group->ancestors)) {
		bpf_probe_read_kernel(&found, sizeof(found),
				      (void *)group +
					      bpf_core_field_offset(struct cgroup, ancestors) +
					      depth * sizeof(found));
		return found;
	}
	for (int i = 0; i < CGROUP_ANCESTORS_MAX && group; i++) {
		if (BPF_CORE_READ(group, level) == depth)
			return group;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return NULL;
}

#endif
