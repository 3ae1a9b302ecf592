/* SPDX-License-Identifier: MIT */
/*
 * What collectd calls: the configuration block, a read callback for each probe with its own
 * interval, and callbacks for the plugin's own figures and for thresholds.
 */
#include "attach/attachment_list.h"
#include "config/config.h"
#include "config/name.h"
#include "dispatch.h"
#include "lacking.h"
#include "notifier.h"
#include "probe/profiler.h"
#include "probe/reading.h"
#include "probe/sampler.h"
#include "probe/upkeep.h"
#include "probe_list.h"
#include "recorder.h"
#include "restart_event.h"
#include "self.h"
#include "service/service.h"
#include "summary.h"
#include "threshold.h"
#include "util/clock.h"
#include "util/message.h"

#include <collectd.h>

#include <configfile.h>
#include <plugin.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* How long the start waits for files that do not answer, those of services and those of probes: collectd
 * handles a signal only after it. Upkeep waits longer, and nobody waits for that. */
#define SERVICES_PATIENCE_NS (NS_PER_S / 4)
#define PROBES_PATIENCE_NS (NS_PER_S / 2)

static struct config config;
static struct file_helper service_files = FILE_HELPER_NONE;
static struct file_helper probe_files = FILE_HELPER_NONE;
static struct services services;
static struct probe_list list;
static struct self self = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct notifier notifier;
static struct profiler profiler = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct sampler sampler;
static struct upkeep upkeep = { .wake = -1 };
static bool summary_logged;

static void log_with_prefix(int severity, const char *text)
{
	plugin_log(severity, "ebpf plugin: %s", text);
}

static int ebpf_config(oconfig_item_t *block)
{
	config_read(&config, block);
	return 0;
}

static double default_interval_s(void)
{
	if (config.interval_s > 0)
		return config.interval_s;
	return CDTIME_T_TO_DOUBLE(plugin_get_interval());
}

static int ebpf_read(user_data_t *data)
{
	struct probe *probe = data->data;
	struct error error;
	bool failed_before = probe->failing;
	struct error text;

	probe_read(probe, &list.publications[probe - list.probes].output, &error);
	if (probe->failing == failed_before)
		return 0;
	if (probe->failing)
		error_set(&text, 0,
			  "probe %s: cannot be read, trying again at each interval: %.900s",
			  probe->name, error.text);
	else
		error_set(&text, 0, "probe %s: reading works again", probe->name);
	message(probe->failing ? LOG_ERR : LOG_NOTICE, "%s", text.text);
	self_notify(probe->failing ? HEALTH_FAILURE : HEALTH_OKAY, probe->name, text.text);
	return 0;
}

static size_t helpers_stuck(void)
{
	return file_helper_stuck(&service_files) + file_helper_stuck(&probe_files) +
	       file_helper_stuck(&profiler.files);
}

static int ebpf_read_self(__attribute__((unused)) user_data_t *data)
{
	int status = notifier_start(&notifier, &services, list.probes, list.count);

	if (status)
		message(LOG_ERR, "there are no notifications of events: %s", strerror(-status));
	restart_events_record(&services);
	summary_logged = summary_logged || summary_log(&services, list.probes, list.count);
	self_read(&self, &services, list.probes, list.count, &sampler, &upkeep, helpers_stuck(),
		  default_interval_s());
	return 0;
}

/* Called by threads of any plugin. */
static int ebpf_notification(const notification_t *notification,
			     __attribute__((unused)) user_data_t *data)
{
	threshold_remember(notification);
	if (!threshold_has_sent(notification))
		return 0;
	dispatch_record("threshold", notification);
	if (config.profiles.on_threshold.count && notification->severity != NOTIF_OKAY)
		profiler_request(&profiler, notification->plugin_instance);
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

static void register_probes(void)
{
	for (size_t i = 0; i < list.count; i++) {
		struct probe *probe = &list.probes[i];

		if (probe->object.bpf)
			register_read(probe->name, ebpf_read, probe, probe->interval_s);
	}
}

static void open_self(void)
{
	if (self_open(&self, list.count) == 0)
		register_read("self", ebpf_read_self, NULL, default_interval_s());
	else
		message(LOG_ERR, "the plugin's own figures are off: no memory");
}

/* Kernels before 5.11 charge maps to RLIMIT_MEMLOCK. Where it cannot be raised, loading reports the
 * error. */
static void raise_memlock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

static void start_samplers(void)
{
	int status = sampler_start(&sampler, list.probes, list.count, config.max_sampling);

	if (status)
		message(LOG_ERR, "no sampler is on: %s", strerror(-status));
}

/* The open probe of this name, or NULL. */
static const struct probe *open_probe_of(const char *name)
{
	for (size_t i = 0; i < list.count; i++)
		if (list.probes[i].object.bpf && !strcmp(list.probes[i].name, name))
			return &list.probes[i];
	return NULL;
}

static void check_on_threshold(void)
{
	for (size_t i = 0; i < config.profiles.on_threshold.count; i++) {
		const char *name = config.profiles.on_threshold.item[i];
		const struct probe *probe = open_probe_of(name);

		if (!probe || !probe->views.count)
			message(LOG_ERR, "OnThreshold \"%s\" in <Profiles> starts nothing: %s",
				name,
				probe ? "this probe takes no stacks"
				      : "no probe of this name is on");
	}
}

static void start_profiler(void)
{
	struct error error;

	check_on_threshold();
	if (profiler_start(&profiler, &services, &upkeep, list.probes, list.count, &error))
		message(LOG_ERR, "no profiles are written: %s", error.text);
}

static void start_recorder(void)
{
	int status = *config.event_file ? recorder_start(config.event_file) : 0;

	if (status)
		message(LOG_ERR, "events are not kept: %s", strerror(-status));
}

static void notify_later(enum health health, const char *name, const char *text)
{
	self_notify_later(&self, health, name, text);
}

static bool has_attachments(void)
{
	for (size_t i = 0; i < list.count; i++)
		if (attachments_any(&list.probes[i].object))
			return true;
	return false;
}

/* Helpers end where nothing is left to be read for now. */
static void release_helpers(void)
{
	if (!config_needs_proc(&config) && !file_helper_stuck(&service_files))
		file_helper_done(&service_files);
	if (!has_attachments() && !file_helper_stuck(&probe_files))
		file_helper_done(&probe_files);
	service_files.patience_ns = probe_files.patience_ns = UINT64_MAX;
}

/* From now on it alone uses the helpers. */
static void start_upkeep(void)
{
	int status = upkeep_open(&upkeep, &services, list.probes, list.count, default_interval_s(),
				 notify_later);

	status = status ?: upkeep_start(&upkeep);
	if (status)
		message(LOG_ERR,
			"new processes, new files and MaxOverhead are not followed: %s; restart collectd",
			strerror(-status));
}

/* BaseDir is collectd's working directory, and need not be absolute. */
static bool set_paths(void)
{
	const char *given = global_option_get("BaseDir");
	char *base_dir = *given == '/' ? strdup(given) : get_current_dir_name();
	int status =
		base_dir ? config_set_paths(&config, EBPF_OBJECT_DIR, EBPF_SYMBOL_HELPER, base_dir)
			 : -errno;

	if (status)
		message(LOG_ERR, "the plugin is off: BaseDir \"%s\": %s", given, strerror(-status));
	free(base_dir);
	return status == 0;
}

static int ebpf_init(void)
{
	struct error error, text;

	config_finish(&config);
	if (!set_paths())
		return 0;
	raise_memlock();
	probe_files.symbols = config.symbol_helper;
	service_files.patience_ns = SERVICES_PATIENCE_NS;
	probe_files.patience_ns = PROBES_PATIENCE_NS;
	if (services_open(&services, &config, default_interval_s(), &service_files, &probe_files,
			  &error) != 0) {
		error_set(&text, 0, "the plugin is off: %.900s", error.text);
		self_report_off(&self, LOG_ERR, SELF_SERVICES, text.text);
	}
	probe_list_open(&list, &config, default_interval_s(), &services, &self);
	register_probes();
	start_samplers();
	release_helpers();
	if (services.object.bpf)
		start_upkeep();
	start_profiler();
	start_recorder();
	plugin_register_notification("ebpf", ebpf_notification, NULL);
	plugin_register_cache_event("ebpf", threshold_begin, NULL);
	open_self();
	lacking_log();
	/* Returns to the system what libbpf needed for loading: the kernel's types, some
	 * megabytes. */
	malloc_trim(0);
	return 0;
}

static int ebpf_shutdown(void)
{
	notifier_stop(&notifier);
	profiler_stop(&profiler);
	upkeep_stop(&upkeep);
	sampler_stop(&sampler);
	recorder_stop();
	self_done(&self);
	probe_list_done(&list);
	lacking_done();
	summary_logged = false;
	services_done(&services);
	file_helper_done(&service_files);
	file_helper_done(&probe_files);
	config_done(&config);
	config_init(&config); /* collectd may start the plugin again */
	return 0;
}

__attribute__((visibility("default"))) void module_register(void)
{
	message_to(log_with_prefix);
	config_init(&config);
	plugin_register_complex_config("ebpf", ebpf_config);
	plugin_register_init("ebpf", ebpf_init);
	plugin_register_shutdown("ebpf", ebpf_shutdown);
}
