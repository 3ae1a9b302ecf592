/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which row a process has by the rules that the kernel follows alone.
 */
#ifndef ENGINE_MATCH_BPF_H
#define ENGINE_MATCH_BPF_H

#include "group.bpf.h"
#include "service_configured.bpf.h"

const volatile u32 services_from = SERVICES_FROM_COMMANDS; /* what takes a free row */

/* One that may be of a Service block by its name has a row of its own until the engine has looked, so
 * that nothing is lost. */
static bool may_have_row(u32 kind, struct group_found found)
{
	return services_from & service_source_of(kind) || found.is_pending;
}

/* Cut at the NUL, and zero behind it. */
struct command_name {
	char text[SERVICE_NAME_LEN];
};

static void command_key(struct group_key *key, const struct command_name *name)
{
	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memcpy(key->text, name, sizeof(*name));
}

/* As service_of_key(), for a process that has the key. */
static u32 fit_key(const struct group_key *key)
{
	struct service_name *name = bpf_map_lookup_elem(&service_names, key);

	if (!name)
		return 0;
	if (!name->fitted) /* written once: CPUs share its cache line */
		name->fitted = 1;
	return name->row;
}

static u32 if_configured(u32 row)
{
	return row < configured_end ? row : 0;
}

/* Where nobody has waited for longer. */
static bool is_row_due(u32 kind)
{
	if (service_is_anyones(kind))
		return service_counters.waiting_names <= 0;
	return service_counters.waiting_groups <= 0;
}

static u32 row_or_claim(const struct group_key *key, u32 known, bool is_next)
{
	u32 row = known;

	if (!known)
		row = is_next || is_row_due(key->kind) ? claim_row(key) : ROW_NONE;
	return row == ROW_NONE && !service_is_anyones(key->kind) ? ROW_NONE_GROUP : row;
}

/* Of a process in these cgroups; GROUP_COMMAND: its command name counts. */
static struct group_found key_of_process(u64 cgroups, struct group_key *ret_key)
{
	struct group_found none = {};

	ret_key->kind = GROUP_COMMAND;
	return cgroup_rules || group_keys ? group_of_process((void *)cgroups, ret_key) : none;
}

/* The row of a process in these cgroups, at this address, and with this command name. Configured rows
 * come before all others, and the first that is configured wins: the lower row. Else it is that of its
 * key, which takes a free one if it may. Verified by itself, once. */
__noinline u32 match_key(u64 cgroups, const struct command_name *name, bool is_next)
{
	u32 row, by_name, by_group = 0;
	struct group_found found;
	struct group_key key;

	if (!name)
		return SERVICE_OTHER;
	command_key(&key, name);
	by_name = fit_key(&key);
	found = key_of_process(cgroups, &key);
	if (key.kind != GROUP_COMMAND)
		by_group = fit_key(&key);
	row = first_row(found.row, first_row(if_configured(by_name), if_configured(by_group)));
	if (row)
		return row;
	if (key.kind != GROUP_COMMAND && may_have_row(key.kind, found))
		return row_or_claim(&key, by_group, is_next);
	if (!(services_from & SERVICES_FROM_COMMANDS))
		return SERVICE_OTHER;
	command_key(&key, name);
	return row_or_claim(&key, by_name, is_next);
}

/* The key whose row it takes, where no rule gives it one. */
__noinline int wanted_key(u64 cgroups, const struct command_name *name, struct group_key *ret_key)
{
	struct group_found found;

	if (!name || !ret_key)
		return -1;
	found = key_of_process(cgroups, ret_key);
	if (ret_key->kind == GROUP_COMMAND || !may_have_row(ret_key->kind, found))
		command_key(ret_key, name);
	return 0;
}

static u32 match_next(struct task_struct *task, const char *comm, bool is_next)
{
	struct command_name name = {};

	if (task->flags & PF_KTHREAD)
		return SERVICE_KERNEL;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), comm);
	if (cgroup_rules || group_keys)
		groups_discover((u64)BPF_CORE_READ(task, cgroups));
	return match_key((u64)BPF_CORE_READ(task, cgroups), &name, is_next);
}

/* Of a process that does not wait for a row: those that do come first. */
static u32 match_process(struct task_struct *task, const char *comm)
{
	return match_next(task, comm, false);
}

#endif
