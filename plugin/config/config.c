/* SPDX-License-Identifier: MIT */
/*
 * The configuration as the plugin uses it: defaults, queries, release.
 */
#include "config.h"

#include "bpf/lib/services/service.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MIB 320
#define MEMORY_CPUS 16 /* MEMORY_MIB is enough for so many possible CPUs */

/* Per-CPU maps have a copy for each possible CPU, so machines with many CPUs need more. */
static unsigned default_memory_mib(void)
{
	int cpus = libbpf_num_possible_cpus();

	return MEMORY_MIB + (cpus > MEMORY_CPUS ? (unsigned)(cpus - MEMORY_CPUS) : 0);
}

void config_init(struct config *config)
{
	static const double percentiles[] = { 50, 90, 95, 99, 99.9 };

	*config =
		(struct config){ .profiles = { .keep_hours = 168, .keep_mib = 1024, .seconds = 60 },
				 .max_services = 256,
				 .max_memory_mib = default_memory_mib(),
				 .max_sampling = 0.5,
				 .max_overhead = 1,
				 .disk_names = { { DISK_NAME_DM, DISK_NAME_MD }, 2 },
				 .services_from = SERVICES_FROM_CONTAINERS | SERVICES_FROM_UNITS |
						  SERVICES_FROM_COMMANDS };
	config->percentile_count = sizeof(percentiles) / sizeof(*percentiles);
	memcpy(config->percentiles, percentiles, sizeof(percentiles));
}

static int set_path(char **path, const char *directory, const char *name)
{
	if (!*path && asprintf(path, "%s%s", directory, name) < 0)
		*path = NULL;
	return *path ? 0 : -ENOMEM;
}

int config_set_paths(struct config *config, const char *object_dir, const char *symbol_helper,
		     const char *base_dir)
{
	int status = set_path(&config->object_dir, object_dir, "");

	status = status ?: set_path(&config->symbol_helper, symbol_helper, "");
	status = status ?: set_path(&config->event_file, base_dir, "/ebpf/events.jsonl");
	return status ?: set_path(&config->profiles.directory, base_dir, "/profiles");
}

unsigned config_new_services(const struct config *config)
{
	return config->max_new_services ?: config->max_services;
}

bool config_on_threshold(const struct config *config, const char *probe)
{
	return strings_have(&config->profiles.on_threshold, probe);
}

bool config_needs_groups(const struct config *config)
{
	bool needs = config->services_from & ~(unsigned)SERVICES_FROM_COMMANDS;

	for (size_t i = 0; i < config->service_count && !needs; i++)
		needs = config->services[i].units.count || config->services[i].containers.count;
	return needs;
}

bool config_has_responses(const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].responses.count)
			return true;
	return false;
}

bool config_needs_proc(const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].match_count || config->services[i].pid_files.count)
			return true;
	return false;
}

const struct probe_config *config_probe(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->probe_count; i++)
		if (!strcmp(config->probes[i].name, name))
			return &config->probes[i];
	return NULL;
}

const struct table_config *config_table(const struct probe_config *probe, const char *map)
{
	for (size_t i = 0; i < probe->table_count; i++)
		if (!strcmp(probe->tables[i].map, map))
			return &probe->tables[i];
	return NULL;
}

void service_config_done(struct service_config *service)
{
	strings_done(&service->commands);
	strings_done(&service->cgroups);
	strings_done(&service->units);
	strings_done(&service->containers);
	strings_done(&service->pid_files);
	strings_done(&service->match_texts);
	for (size_t i = 0; i < service->match_count; i++)
		regex_done(&service->matches[i]);
	free(service->matches);
	strings_done(&service->once);
	*service = (struct service_config){ 0 };
}

static void attaches_done(struct attach_config *attaches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(attaches[i].text);
		free(attaches[i].program);
		hook_done(&attaches[i].hook);
	}
	free(attaches);
}

void function_config_done(struct function_config *function)
{
	attaches_done(function->attaches, function->attach_count);
	strings_done(&function->services);
	strings_done(&function->once);
	*function = (struct function_config){ 0 };
}

static void probe_config_done(struct probe_config *probe)
{
	strings_done(&probe->options);
	strings_done(&probe->collect);
	strings_done(&probe->ignore);
	for (size_t i = 0; i < probe->parameter_count; i++)
		free(probe->parameters[i].name);
	free(probe->parameters);
	for (size_t i = 0; i < probe->label_count; i++) {
		free(probe->labels[i].word);
		strings_done(&probe->labels[i].globs);
	}
	free(probe->labels);
	attaches_done(probe->attaches, probe->attach_count);
	for (size_t i = 0; i < probe->table_count; i++)
		table_config_done(&probe->tables[i]);
	free(probe->tables);
	for (size_t i = 0; i < probe->function_count; i++)
		function_config_done(&probe->functions[i]);
	free(probe->functions);
	free(probe->object);
	strings_done(&probe->once);
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		service_config_done(&config->services[i]);
	free(config->services);
	strings_done(&config->classes);
	for (size_t i = 0; i < config->probe_count; i++)
		probe_config_done(&config->probes[i]);
	free(config->probes);
	free(config->object_dir);
	free(config->profiles.directory);
	strings_done(&config->profiles.on_threshold);
	strings_done(&config->profiles.once);
	free(config->symbol_helper);
	free(config->event_file);
	strings_done(&config->container_states);
	strings_done(&config->once);
	*config = (struct config){ 0 };
}
