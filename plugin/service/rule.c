/* SPDX-License-Identifier: MIT */
/*
 * The rules of Service blocks that the kernel can follow alone: command names and
 * cgroups go down into maps, where exec looks them up. Where several services
 * match, the first in the configuration wins.
 */
#include "rule.h"

#include "bpf/lib/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int rules_prepare(const struct config *config, struct object *object, struct error *error)
{
	uint32_t names = config->max_services + 1, steps = 1;
	int status;

	for (size_t i = 0; i < config->service_count; i++) {
		names += (uint32_t)config->services[i].commands.count;
		for (size_t j = 0; j < config->services[i].cgroups.count; j++) {
			const char *path = config->services[i].cgroups.item[j];

			for (steps++; *path; path++)
				steps += *path == '/';
		}
	}
	if (steps > 1)
		object_set(object, "cgroup_rules", true);
	else
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(object->bpf, "service_cgroup"), false);
	object_set(object, "command_lines", config_needs_proc(config));
	status = bpf_map__set_max_entries(object_map(object, "service_names"), names);
	if (status == 0)
		status = bpf_map__set_max_entries(object_map(object, "service_cgroups"), steps);
	return status ? error_set(error, status, "cannot size the rules: %s", strerror(-status))
		      : 0;
}

static int add_command(struct bpf_map *names, const char *command, uint32_t row)
{
	struct service_name name = { 0 };
	int status;

	snprintf(name.text, sizeof(name.text), "%s", command);
	status = bpf_map_update_elem(bpf_map__fd(names), &name, &row, BPF_NOEXIST);
	return status == 0 || errno == EEXIST ? 0 : -errno;
}

/* Adds the directories of a path, one step below the other. */
static int add_cgroup(struct bpf_map *steps, const char *path, uint32_t row, uint32_t *last_node)
{
	struct cgroup_step step = { 0 };
	int fd = bpf_map__fd(steps);

	while (*path) {
		struct cgroup_node node = { 0 };
		size_t length = strcspn(path, "/");

		memset(step.name, 0, sizeof(step.name));
		if (length >= sizeof(step.name))
			return -ENAMETOOLONG;
		memcpy(step.name, path, length);
		path += length + strspn(path + length, "/");
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
			status = add_command(names, s->commands.item[j], row);
		for (size_t j = 0; j < s->cgroups.count && status == 0; j++)
			status = add_cgroup(steps, s->cgroups.item[j], row, &last_node);
	}
	return status ? error_set(error, status, "cannot hand the rules to the kernel: %s",
				  strerror(-status))
		      : 0;
}
