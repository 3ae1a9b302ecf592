/* SPDX-License-Identifier: MIT */
/*
 * What collectd sees of the plugin: one configuration block, a read callback
 * per probe with its own interval, and one for the plugin's own figures.
 */
#include "config.h"
#include "message.h"
#include "probe.h"
#include "self.h"
#include "service.h"

#include <collectd.h>

#include <plugin.h>

#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define OBJECT_SUFFIX ".bpf.o"
#define SERVICE_OBJECT "service" OBJECT_SUFFIX

static struct config config;
static bool configured;
static struct services services;
static struct probe *probes;
static size_t probe_count;
static struct dispatch self_dispatch;

static void to_log(int severity, const char *text)
{
	plugin_log(severity, "ebpf plugin: %s", text);
}

static bool ensure_config(void)
{
	message_to(to_log);
	if (!configured)
		configured = config_init(&config, EBPF_OBJECT_DIR) == 0;
	return configured;
}

static int ebpf_config(oconfig_item_t *block)
{
	if (ensure_config())
		config_read(&config, block);
	return 0;
}

static double interval_of(const struct probe_config *probe)
{
	if (probe && probe->interval_s > 0)
		return probe->interval_s;
	if (config.interval_s > 0)
		return config.interval_s;
	return CDTIME_T_TO_DOUBLE(plugin_get_interval());
}

static int ebpf_read(user_data_t *data)
{
	struct probe *probe = data->data;
	struct error error;
	bool failed = probe_read(probe, &error) != 0;

	if (failed && !probe->failing)
		message(LOG_ERR, "probe %s: %s; trying again at each interval", probe->name,
			error.text);
	else if (!failed && probe->failing)
		message(LOG_NOTICE, "probe %s: reading works again", probe->name);
	probe->failing = failed;
	return 0;
}

static int ebpf_read_self(__attribute__((unused)) user_data_t *data)
{
	self_read(&self_dispatch, &services, probes, probe_count, interval_of(NULL));
	return 0;
}

static void register_read(const char *name, int (*read)(user_data_t *), void *data,
			  double interval_s)
{
	char callback[CONFIG_NAME_MAX + 16];

	snprintf(callback, sizeof(callback), "ebpf/%s", name);
	plugin_register_complex_read("ebpf", callback, read, DOUBLE_TO_CDTIME_T(interval_s),
				     &(user_data_t){ .data = data });
}

/* A probe that does not open keeps its place, so that its tier shows as 0. */
static void open_probe(const char *name)
{
	const struct probe_config *block = config_probe(&config, name);
	struct probe *probe = &probes[probe_count];
	struct error error;
	char path[4096];
	int status;

	if (block && !block->enable)
		return;
	snprintf(path, sizeof(path), "%s/%s" OBJECT_SUFFIX, config.object_dir, name);
	probe_count++;
	status = probe_open(probe, name, block && block->object ? block->object : path,
			    interval_of(block), &config, &services, &error);
	if (status) {
		message(status == PROBE_NEEDS_OPTION ? LOG_WARNING : LOG_ERR, "probe %s is off: %s",
			name, error.text);
		return;
	}
	message(LOG_INFO, "probe %s is on (tier %u)", name, probe->object.tier);
}

static int is_probe_object(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(OBJECT_SUFFIX);

	return length > suffix && length < CONFIG_NAME_MAX &&
	       !strcmp(entry->d_name + length - suffix, OBJECT_SUFFIX) &&
	       strcmp(entry->d_name, SERVICE_OBJECT) != 0;
}

/* The objects of the directory, and those that only the configuration names. */
static void open_probes(void)
{
	struct dirent **entries = NULL;
	int count = scandir(config.object_dir, &entries, is_probe_object, alphasort);

	probes = calloc((size_t)(count > 0 ? count : 0) + config.probe_count + 1, sizeof(*probes));
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;

		name[strlen(name) - strlen(OBJECT_SUFFIX)] = '\0';
		if (probes)
			open_probe(name);
	}
	for (size_t i = 0; i < config.probe_count && probes; i++) {
		bool there = false;

		for (int j = 0; j < count && !there; j++)
			there = !strcmp(entries[j]->d_name, config.probes[i].name);
		if (!there)
			open_probe(config.probes[i].name);
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	for (size_t i = 0; i < probe_count; i++)
		if (probes[i].object.bpf)
			register_read(probes[i].name, ebpf_read, &probes[i], probes[i].interval_s);
}

/* Kernels before 5.11 charge maps to RLIMIT_MEMLOCK; without the right to
 * raise it, loading will tell. */
static void raise_memlock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

static int ebpf_init(void)
{
	struct error error;

	if (!ensure_config())
		return 0;
	raise_memlock();
	if (services_open(&services, &config, interval_of(NULL), &error) != 0) {
		message(LOG_ERR, "%s; the plugin is off", error.text);
		return 0;
	}
	open_probes();
	register_read("self", ebpf_read_self, NULL, interval_of(NULL));
	/* What libbpf needed to load, some megabytes of the kernel's types. */
	malloc_trim(0);
	return 0;
}

static int ebpf_shutdown(void)
{
	for (size_t i = 0; i < probe_count; i++)
		probe_done(&probes[i]);
	free(probes);
	probes = NULL;
	probe_count = 0;
	services_done(&services);
	config_done(&config);
	configured = false;
	return 0;
}

__attribute__((visibility("default"))) void module_register(void)
{
	plugin_register_complex_config("ebpf", ebpf_config);
	plugin_register_init("ebpf", ebpf_init);
	plugin_register_shutdown("ebpf", ebpf_shutdown);
}
