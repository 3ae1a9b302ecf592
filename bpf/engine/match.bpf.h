/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which row a process has by the rules that the kernel follows alone.
 */
#ifndef ENGINE_MATCH_BPF_H
#define ENGINE_MATCH_BPF_H

#include "kernel/cgroup.bpf.h"
#include "row.bpf.h"

const volatile bool command_names = true; /* a command name takes a free row */
const volatile bool cgroup_rules = false;

HASH(service_cgroups, struct cgroup_step, struct cgroup_node, 1);

/* The lowest row that a rule gives one of the directories on the way down, or 0. */
static u32 match_cgroup(struct task_struct *task)
{
	struct cgroup *group = task->cgroups->dfl_cgrp;
	int level = group->level;
	u32 parent = 0, row = 0;

	for (int depth = 1; depth <= CGROUP_DEPTH_MAX && depth <= level; depth++) {
		struct cgroup *at = cgroup_ancestor(group, depth);
		struct cgroup_step step = { .parent = parent };
		struct cgroup_node *node;

		bpf_probe_read_kernel_str(step.name, sizeof(step.name),
					  BPF_CORE_READ(at, kn, name));
		node = bpf_map_lookup_elem(&service_cgroups, &step);
		if (!node)
			break;
		if (node->row && (!row || node->row < row))
			row = node->row;
		parent = node->node;
	}
	return row;
}

/* Configured rows come before those of command names, and the first that is
 * configured wins: the lower row. A new name takes a free one if it may. */
static u32 match_or_take(struct task_struct *task, const char *comm, bool may_take)
{
	struct service_name name = {};
	u32 *known, row;

	if (task->flags & PF_KTHREAD)
		return SERVICE_KERNEL;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), comm);
	known = bpf_map_lookup_elem(&service_names, &name);
	row = cgroup_rules ? match_cgroup(task) : 0;
	if (known && (!row || *known < row))
		row = *known;
	if (row || !command_names)
		return row;
	return may_take ? take_row(&name) : ROW_NONE;
}

/* Of a process that does not wait for a row: those that do come first. */
static u32 match(struct task_struct *task, const char *comm)
{
	return match_or_take(task, comm, service_counters.waiting_names <= 0);
}

#endif
