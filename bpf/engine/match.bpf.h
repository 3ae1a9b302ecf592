/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The row of a process by the rules that the kernel can check by itself.
 */
#ifndef ENGINE_MATCH_BPF_H
#define ENGINE_MATCH_BPF_H

#include "group.bpf.h"
#include "services/service_configured.bpf.h"

const volatile u32 services_from =
	SERVICES_FROM_COMMANDS; /* enum service_source: what may claim a free row */

/* A process that a Service block may cover by a name still unknown gets a row of its own until the
 * engine has checked, so that no event is lost. */
static bool may_have_row(u32 kind, struct group_found found)
{
	return services_from & service_source_of(kind) || found.is_pending;
}

/* Cut at the NUL, and zero after it. */
struct command_name {
	char text[SERVICE_NAME_LEN];
};

static void key_of_command(struct group_key *key, const struct command_name *name)
{
	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memcpy(key->text, name, sizeof(*name));
}

/* As service_of_key(), and marks that a process has the key. */
static u32 fit_key(const struct group_key *key)
{
	struct service_name *name = bpf_map_lookup_elem(&service_names, key);

	if (!name)
		return 0;
	if (!name->fitted) /* written once only, because CPUs share its cache line */
		name->fitted = 1;
	return name->row;
}

static u32 if_configured(u32 row)
{
	return row < configured_end ? row : 0;
}

/* Does no other process wait for a row of this kind? */
static bool is_row_due(u32 kind)
{
	if (service_is_user_controlled(kind))
		return service_counters.unassigned_names <= 0;
	return service_counters.unassigned_groups <= 0;
}

static u32 row_or_claim(const struct group_key *key, u32 known, bool is_next)
{
	u32 row = known;

	if (!known)
		row = is_next || is_row_due(key->kind) ? claim_row(key) : ROW_NONE;
	return row == ROW_NONE && !service_is_user_controlled(key->kind) ? ROW_NONE_GROUP : row;
}

/* The key of a process in these cgroups; GROUP_COMMAND: its command name decides. */
static struct group_found key_of_process(u64 cgroups, struct group_key *ret_key)
{
	struct group_found none = {};

	ret_key->kind = GROUP_COMMAND;
	return cgroup_rules || group_keys ? group_of_process((void *)cgroups, ret_key) : none;
}

/* The row of a process with this command name in the css_set at this address. Configured rows come
 * first, and among them the lowest. Otherwise the row is that of the key; if the key has none, it
 * claims a free row where that is allowed. is_next: it has waited longest. Global, so that the
 * verifier checks it once. */
__noinline u32 match_key(u64 cgroups, const struct command_name *name, bool is_next)
{
	u32 row, by_name, by_group = 0;
	struct group_found found;
	struct group_key key;

	if (!name)
		return SERVICE_OTHER;
	key_of_command(&key, name);
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
	key_of_command(&key, name);
	return row_or_claim(&key, by_name, is_next);
}

/* The key for which a process that no rule covers would claim a row. */
__noinline int wanted_key(u64 cgroups, const struct command_name *name, struct group_key *ret_key)
{
	struct group_found found;

	if (!name || !ret_key)
		return -1;
	found = key_of_process(cgroups, ret_key);
	if (ret_key->kind == GROUP_COMMAND || !may_have_row(ret_key->kind, found))
		key_of_command(ret_key, name);
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

/* For a process that does not wait for a row: processes that do come first. */
static u32 match_row(struct task_struct *task, const char *comm)
{
	return match_next(task, comm, false);
}

#endif
