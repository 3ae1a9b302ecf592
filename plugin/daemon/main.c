/* SPDX-License-Identifier: MIT */
/*
 * What collectd sees of the plugin: one configuration block, a read callback
 * per probe with its own interval, and one for the plugin's own figures.
 */
#include "config/config.h"
#include "config/name.h"
#include "notifier.h"
#include "probe/overhead.h"
#include "probe/pause.h"
#include "probe/probe.h"
#include "probe/probe_mistake.h"
#include "probe/profiler.h"
#include "probe/reading.h"
#include "probe/sampler.h"
#include "self.h"
#include "service/service.h"
#include "summary.h"
#include "threshold.h"
#include "util/clock.h"
#include "util/message.h"

#include <collectd.h>

#include <plugin.h>

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define OBJECT_SUFFIX ".bpf.o"
#define OVERHEAD_S 1.0                     /* from one look at what probes cost to the next */
#define OWN_OBJECT "service" OBJECT_SUFFIX /* of the engine, which has it built in */

static struct config config;
static bool configured;
static struct file_reader files = FILE_READER_NONE;
static struct services services;
static struct probe *probes;
static size_t probe_count;
static struct self self;
static struct notifier notifier;
static struct profiler profiler = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct sampler sampler;
static struct overhead overhead;
static bool summary_told;

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
	bool failed_before = probe->failing;
	struct error text;

	probe_read(probe, &error);
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

static int ebpf_read_self(__attribute__((unused)) user_data_t *data)
{
	int status = notifier_start(&notifier, &services, probes, probe_count);

	if (status)
		message(LOG_ERR, "no notification will tell of an event: %s", strerror(-status));
	services_tell_fits(&services);
	summary_told = summary_told || summary_tell(&services, probes, probe_count);
	self_read(&self, &services, probes, probe_count, &sampler, interval_of(NULL));
	return 0;
}

static int ebpf_read_overhead(__attribute__((unused)) user_data_t *data)
{
	overhead_step(&overhead, clock_ns());
	return 0;
}

/* Called by threads of any plugin. */
static int ebpf_notification(const notification_t *notification,
			     __attribute__((unused)) user_data_t *data)
{
	const char *subject = threshold_subject(notification);

	if (subject)
		profiler_ask(&profiler, subject);
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

/* Says that a probe, or all of them, is off: now in the log, with the first reading as a
 * notification. */
static void tell_off(int severity, const char *name, const char *text)
{
	message(severity, "%s", text);
	self_notify_later(&self, severity == LOG_ERR ? HEALTH_FAILURE : HEALTH_WARNING, name, text);
}

static bool has_probe(const char *name)
{
	for (size_t i = 0; i < probe_count; i++)
		if (!strcmp(probes[i].name, name))
			return true;
	return false;
}

/* The series of probes would meet, also those under "ebpf-self". */
static bool check_name(const char *name, const char *path)
{
	const char *why = self_reserved(name) ? "this name is the plugin's own"
			  : has_probe(name)   ? "another object has this name already"
					      : NULL;

	if (why)
		message(LOG_ERR, "skipping %s as the probe %s: %s; rename it", path, name, why);
	return !why;
}

/* Of one that is off the tier shows as 0. */
static struct probe *add_probe(const char *name)
{
	struct probe *probe = &probes[probe_count++];

	*probe = (struct probe){ .subscriber = -1 };
	snprintf(probe->name, sizeof(probe->name), "%s", name);
	return probe;
}

/* The object is that of the block, or NAME.bpf.o. A probe that does not open keeps its
 * subject; without services none is tried. */
static void open_probe(const char *object)
{
	const struct probe_config *block = config_probe(&config, object);
	struct probe *probe;
	const char *path = block ? block->object : NULL;
	char own[4096], name[CONFIG_NAME_MAX];
	struct error error, text;
	int status;

	if (block && !block->enable) {
		probe_mistake_disabled(block);
		return;
	}
	snprintf(own, sizeof(own), "%s/%s" OBJECT_SUFFIX, config.object_dir, object);
	path = path ?: own;
	name_clean(name, sizeof(name), object);
	if (!check_name(name, path))
		return;
	probe = add_probe(name);
	if (!services.object.bpf)
		return;
	status = probe_open(probe, name, path, interval_of(block), block, &services, &error);
	if (status == PROBE_NOT_ENABLED) {
		probe_mistake_not_enabled(name, block, error.text);
		probe_count--;
		return;
	}
	if (status) {
		error_set(&text, 0, "probe %s is off: %.900s", name, error.text);
		tell_off(status == PROBE_NEEDS_OPTION ? LOG_WARNING : LOG_ERR, name, text.text);
		return;
	}
	if (probe->on_threshold)
		probe_pause(probe);
	message(LOG_INFO, "probe %s is on (tier %u)%s", name, probe->object.tier,
		probe->on_threshold ? ", and waits for a threshold" : "");
}

static bool is_object(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(OBJECT_SUFFIX);

	return length > suffix && !strcmp(entry->d_name + length - suffix, OBJECT_SUFFIX) &&
	       strcmp(entry->d_name, OWN_OBJECT) != 0;
}

static int is_probe_object(const struct dirent *entry)
{
	return is_object(entry) && strlen(entry->d_name) < CONFIG_NAME_MAX;
}

static int is_long_name(const struct dirent *entry)
{
	return is_object(entry) && strlen(entry->d_name) >= CONFIG_NAME_MAX;
}

static void warn_of_own_object(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" OWN_OBJECT, config.object_dir);
	if (access(path, F_OK) == 0)
		message(LOG_NOTICE,
			"skipping %s: this version of the plugin has that object built in; delete "
			"the file if an older version has installed it",
			path);
}

/* Is the block of an object in the directory? */
static bool is_of_directory(const struct probe_config *block, struct dirent *const *entries,
			    int count)
{
	for (int i = 0; i < count; i++)
		if (config_probe(&config, entries[i]->d_name) == block)
			return true;
	return false;
}

/* One that is to be on shows as a probe that is off. */
static void tell_missing(const struct probe_config *block, struct dirent *const *entries, int count)
{
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct error text;

	if (!names)
		return;
	for (int i = 0; i < count; i++)
		names[i] = entries[i]->d_name;
	probe_mistake_missing(&text, block, names);
	free(names);
	if (block->enable && !self_reserved(block->name))
		tell_off(LOG_ERR, add_probe(block->name)->name, text.text);
	else
		message(LOG_ERR, "%s", text.text);
}

/* The directory has no object, nor does the configuration name one elsewhere. */
static bool is_no_directory(int count)
{
	for (size_t i = 0; i < config.probe_count && count == 0; i++)
		if (config.probes[i].object)
			return false;
	return count <= 0;
}

/* Those that only the configuration names. */
static void open_configured(struct dirent *const *entries, int count)
{
	for (size_t i = 0; i < config.probe_count; i++) {
		const struct probe_config *block = &config.probes[i];

		if (is_of_directory(block, entries, count))
			continue;
		if (block->object)
			open_probe(block->name);
		else if (!is_no_directory(count))
			tell_missing(block, entries, count);
	}
}

/* Which would be no name of a series. */
static void tell_long_names(void)
{
	struct dirent **entries = NULL;
	int count = scandir(config.object_dir, &entries, is_long_name, alphasort);

	for (int i = 0; i < count; i++) {
		message(LOG_ERR,
			"skipping %s of ObjectDirectory \"%s\": its name has %d bytes or more; "
			"rename it",
			entries[i]->d_name, config.object_dir, CONFIG_NAME_MAX);
		free(entries[i]);
	}
	free(entries);
}

/* Shows as a probe that is off: which ones there would be nobody knows. */
static void tell_no_directory(const char *why)
{
	struct error text;

	error_set(&text, 0,
		  "no probe of ObjectDirectory \"%.700s\" is on: %s; set it to "
		  "where the BPF objects are installed",
		  config.object_dir, why);
	tell_off(LOG_ERR, add_probe(SELF_DIRECTORY)->name, text.text);
}

/* The objects of the directory, and of the configuration. */
static void open_probes(void)
{
	struct dirent **entries = NULL;
	int count = scandir(config.object_dir, &entries, is_probe_object, alphasort);

	int status = errno;

	if (services.object.bpf)
		warn_of_own_object();
	/* One more for the directory. */
	probes = calloc((size_t)(count > 0 ? count : 0) + config.probe_count + 1, sizeof(*probes));
	if (probes && is_no_directory(count))
		tell_no_directory(count < 0 ? strerror(status)
					    : "it has no file NAME" OBJECT_SUFFIX);
	tell_long_names();
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;

		name[strlen(name) - strlen(OBJECT_SUFFIX)] = '\0';
		if (probes)
			open_probe(name);
	}
	if (probes)
		open_configured(entries, count);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	for (size_t i = 0; i < probe_count; i++)
		if (probes[i].object.bpf)
			register_read(probes[i].name, ebpf_read, &probes[i], probes[i].interval_s);
}

static void open_self(void)
{
	if (self_open(&self, &services, probes, probe_count) == 0)
		register_read("self", ebpf_read_self, NULL, interval_of(NULL));
	else
		message(LOG_ERR, "the plugin's own figures are off: no memory");
}

/* Kernels before 5.11 charge maps to RLIMIT_MEMLOCK; without the right to
 * raise it, loading will tell. */
static void raise_memlock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

static void start_samplers(void)
{
	int status = sampler_start(&sampler, probes, probe_count, config.max_sampling);

	if (status)
		message(LOG_ERR, "no sampler is on: %s", strerror(-status));
}

/* A probe of this name, or of an object in the directory, that is open. */
static const struct probe *open_of(const char *name)
{
	for (size_t i = 0; i < probe_count; i++)
		if (probes[i].object.bpf && !strcmp(probes[i].name, name))
			return &probes[i];
	return NULL;
}

static void check_on_threshold(void)
{
	for (size_t i = 0; i < config.profiles.on_threshold.count; i++) {
		const char *name = config.profiles.on_threshold.item[i];
		const struct probe *probe = open_of(name);

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
	if (profiler_start(&profiler, &services, probes, probe_count, &error) == 0) {
		if (config.profiles.on_threshold.count)
			plugin_register_notification("ebpf", ebpf_notification, NULL);
		return;
	}
	message(LOG_ERR, "no profiles are written: %s", error.text);
}

/* Its callback is called as no probe can be. */
static void open_overhead(void)
{
	int status = overhead_open(&overhead, probes, probe_count, config.max_overhead, clock_ns());

	if (status)
		message(LOG_ERR, "MaxOverhead switches nothing off: %s", strerror(-status));
	else if (overhead.count)
		register_read("self/overhead", ebpf_read_overhead, NULL, OVERHEAD_S);
}

static int ebpf_init(void)
{
	struct error error, text;

	if (!ensure_config())
		return 0;
	config_finish(&config);
	raise_memlock();
	files.symbols = config.symbol_reader;
	if (services_open(&services, &config, interval_of(NULL), &files, &error) != 0) {
		error_set(&text, 0, "the plugin is off: %.900s", error.text);
		tell_off(LOG_ERR, SELF_SERVICES, text.text);
	}
	open_probes();
	start_samplers();
	open_overhead();
	start_profiler();
	if (!config_needs_proc(&config))
		file_reader_done(&files); /* nothing is read any more */
	open_self();
	/* What libbpf needed to load, some megabytes of the kernel's types. */
	malloc_trim(0);
	return 0;
}

static int ebpf_shutdown(void)
{
	notifier_stop(&notifier);
	profiler_stop(&profiler);
	sampler_stop(&sampler);
	overhead_done(&overhead);
	self_done(&self);
	for (size_t i = 0; i < probe_count; i++)
		probe_done(&probes[i]);
	free(probes);
	probes = NULL;
	probe_count = 0;
	summary_told = false;
	services_done(&services);
	file_reader_done(&files);
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
