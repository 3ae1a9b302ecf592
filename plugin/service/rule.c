/* SPDX-License-Identifier: MIT */
/*
 * Rules of Service blocks that the kernel applies itself: command names, units without wildcards, ids of
 * containers, and cgroups are written into maps, which exec looks up. If several services match, the first
 * one of the configuration wins.
 */
#include "rule.h"

#include "cgroup/match.h"
#include "util/message.h"

#include "bpf/lib/services/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const enum group_kind container_kinds[] = {
	GROUP_CONTAINER, GROUP_DOCKER, GROUP_PODMAN,  GROUP_CONTAINERD,
	GROUP_CRIO,      GROUP_LXC,    GROUP_MACHINE,
};

static const enum group_kind unit_kinds[] = { GROUP_UNIT, GROUP_USER };

#define CONTAINER_KINDS (sizeof(container_kinds) / sizeof(*container_kinds))
#define UNIT_KINDS (sizeof(unit_kinds) / sizeof(*unit_kinds))

/* An upper bound. */
static uint32_t count_keys(const struct service_config *service)
{
	return (uint32_t)(service->commands.count + UNIT_KINDS * service->units.count +
			  CONTAINER_KINDS * service->containers.count);
}

static uint32_t count_steps(const struct service_config *service)
{
	uint32_t steps = 0;

	for (size_t i = 0; i < service->cgroups.count; i++) {
		const char *path = service->cgroups.item[i];

		for (steps++; *path; path++)
			steps += *path == '/';
	}
	return steps;
}

static void set_autoload(struct object *object, const char *program, bool load)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(object->bpf, program), load);
}

/* Groups need bpf_loop(), Linux 5.17. If the kernel cannot be asked, loading reports the error. */
bool rules_know_groups(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_loop, NULL) != 0;
}

static void warn_without_loop(void)
{
	if (rules_know_groups())
		return;
	message(LOG_WARNING,
		"units, users and containers are services from Linux 5.17 on; this kernel is older: "
		"all processes count by their command names, and Unit, Container and Cgroup of "
		"Service blocks have no effect");
}

int rules_prepare(const struct config *config, struct object *object, struct error *error)
{
	bool groups = config_needs_groups(config);
	uint32_t keys = config->max_services + 1, steps = 1;
	int status;

	for (size_t i = 0; i < config->service_count; i++) {
		keys += count_keys(&config->services[i]);
		steps += count_steps(&config->services[i]);
	}
	if (groups || steps > 1)
		warn_without_loop();
	object_set(object, "cgroup_rules", steps > 1);
	object_set(object, "group_keys", groups);
	object_set(object, "named_by_engine", groups_need_names(config));
	object_set(object, "user_containers", groups_have_user_containers(config));
	object_set(object, "services_from", config->services_from);
	object_set(object, "configured_end", SERVICE_FIRST + config->service_count);
	set_autoload(object, "service_cgroup", groups || steps > 1);
	set_autoload(object, "service_cgroup_removed", groups || steps > 1);
	object_set(object, "command_lines", config_needs_proc(config));
	status = bpf_map__set_max_entries(object_map(object, "service_names"), keys);
	status = status ?: bpf_map__set_max_entries(object_map(object, "service_cgroups"), steps);
	if (status == 0 && !groups && steps == 1)
		status = bpf_map__set_max_entries(object_map(object, "service_groups"), 1);
	return status ? error_set(error, status, "cannot size the rules: %s", strerror(-status))
		      : 0;
}

/* The first rule with a key wins. */
static int add_rule_key(struct bpf_map *names, const struct group_key *key, uint32_t row)
{
	const struct service_name name = { .row = row };
	int status = bpf_map_update_elem(bpf_map__fd(names), key, &name, BPF_NOEXIST);

	return status == 0 || errno == EEXIST ? 0 : -errno;
}

static struct group_key make_command_key(const char *command)
{
	struct group_key key = { .kind = GROUP_COMMAND };

	snprintf(key.text, SERVICE_NAME_LEN, "%s", command);
	return key;
}

static int add_command_rule(struct bpf_map *names, const char *command, uint32_t row)
{
	const struct group_key key = make_command_key(command);

	return add_rule_key(names, &key, row);
}

/* Adds the keys of those kinds for which the kernel can compare the option. */
static int add_group_rules(struct bpf_map *names, const char *option, const enum group_kind *kinds,
			   size_t count, uint32_t row)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		struct group_key key;

		if (group_rule_key(option, kinds[i], &key))
			status = add_rule_key(names, &key, row);
	}
	return status;
}

/* Copies the first directory of a path into the step; returns the remaining path, NULL: the name is too
 * long. */
static const char *copy_directory(struct cgroup_step *step, const char *path)
{
	size_t length = strcspn(path, "/");

	memset(step->name, 0, sizeof(step->name));
	if (length >= sizeof(step->name))
		return NULL;
	memcpy(step->name, path, length);
	path += length;
	return path + strspn(path, "/");
}

/* Adds the directories of a path, each one below the one before. */
static int add_cgroup_rule(struct bpf_map *steps, const char *path, uint32_t row,
			   uint32_t *last_node)
{
	struct cgroup_step step = { 0 };
	int fd = bpf_map__fd(steps);

	while (*path) {
		struct cgroup_node node = { 0 };

		path = copy_directory(&step, path);
		if (!path)
			return -ENAMETOOLONG;
		if (bpf_map_lookup_elem(fd, &step, &node) != 0)
			node.node = ++*last_node;
		if (*path == '\0' && node.row == 0)
			node.row = row;
		if (bpf_map_update_elem(fd, &step, &node, BPF_ANY) != 0)
			return -errno;
		step.parent = node.node;
	}
	return 0;
}

int rules_fill(const struct config *config, struct object *object, struct error *error)
{
	struct bpf_map *names = object_map(object, "service_names");
	struct bpf_map *steps = object_map(object, "service_cgroups");
	uint32_t last_node = 0;
	int status = 0;

	for (size_t i = 0; i < config->service_count && status == 0; i++) {
		const struct service_config *s = &config->services[i];
		uint32_t row = SERVICE_FIRST + (uint32_t)i;

		for (size_t j = 0; j < s->commands.count && status == 0; j++)
			status = add_command_rule(names, s->commands.item[j], row);
		for (size_t j = 0; j < s->units.count && status == 0; j++)
			status = add_group_rules(names, s->units.item[j], unit_kinds, UNIT_KINDS,
						 row);
		for (size_t j = 0; j < s->containers.count && status == 0; j++)
			status = add_group_rules(names, s->containers.item[j], container_kinds,
						 CONTAINER_KINDS, row);
		for (size_t j = 0; j < s->cgroups.count && status == 0; j++)
			status = add_cgroup_rule(steps, s->cgroups.item[j], row, &last_node);
	}
	return status ? error_set(error, status, "cannot hand the rules to the kernel: %s",
				  strerror(-status))
		      : 0;
}

/* --- fitted rules --- */

static bool key_has_fitted(const struct object *object, const struct group_key *key)
{
	struct service_name name;
	int fd = bpf_map__fd(object_map(object, "service_names"));

	return bpf_map_lookup_elem(fd, key, &name) == 0 && name.fitted;
}

static bool group_has_fitted(const struct object *object, const char *option,
			     const enum group_kind *kinds, size_t count)
{
	bool fitted = false;

	for (size_t i = 0; i < count && !fitted; i++) {
		struct group_key key;

		fitted = group_rule_key(option, kinds[i], &key) && key_has_fitted(object, &key);
	}
	return fitted;
}

static bool cgroup_has_fitted(const struct object *object, const char *path)
{
	int fd = bpf_map__fd(object_map(object, "service_cgroups"));
	struct cgroup_step step = { 0 };
	struct cgroup_node node = { 0 };

	while (path && *path) {
		path = copy_directory(&step, path);
		if (bpf_map_lookup_elem(fd, &step, &node) != 0)
			return false;
		step.parent = node.node;
	}
	return node.fitted;
}

bool rule_has_fitted(const struct object *object, enum rule_kind kind, const char *text)
{
	const struct group_key command = make_command_key(text);

	switch (kind) {
	case RULE_PROCESS:
		return key_has_fitted(object, &command);
	case RULE_UNIT:
		return group_has_fitted(object, text, unit_kinds, UNIT_KINDS);
	case RULE_CONTAINER:
		return group_has_fitted(object, text, container_kinds, CONTAINER_KINDS);
	case RULE_CGROUP:
		return cgroup_has_fitted(object, text);
	default:
		return false;
	}
}
