/* SPDX-License-Identifier: MIT */
/*
 * Opens the probes whose objects are in the object directory or named by the configuration, and reports those that
 * cannot be on.
 */
#include "probe_list.h"

#include "config/name.h"
#include "dispatch.h"
#include "lacking.h"
#include "probe/open.h"
#include "probe/pause.h"
#include "util/message.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJECT_SUFFIX ".bpf.o"
#define OWN_OBJECT "service" OBJECT_SUFFIX /* the engine's own object, which is built in */

static double interval_of_probe(const struct probe_list *list, const struct probe_config *block)
{
	return block && block->interval_s > 0 ? block->interval_s : list->interval_s;
}

static bool has_probe(const struct probe_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (name_is_same(list->probes[i].name, name))
			return true;
	return false;
}

/* A probe named as the plugin itself would write the same series under "ebpf-self". */
static bool check_probe_name(const char *object, const char *path)
{
	char name[CONFIG_NAME_MAX];

	name_clean(name, sizeof(name), object);
	if (!self_reserved(name))
		return true;
	message(LOG_ERR, "skipping %s as the probe %s: this name is reserved; rename it", path,
		name);
	return false;
}

/* The first attempt that no other probe has is its name. */
static void choose_probe_name(const struct probe_list *list, const char *object,
			      char name[CONFIG_NAME_MAX])
{
	char escaped[4 * CONFIG_NAME_MAX];
	unsigned attempt = 0;

	name_attempt(name, CONFIG_NAME_MAX, object, attempt);
	while (has_probe(list, name))
		name_attempt(name, CONFIG_NAME_MAX, object, ++attempt);
	name_escape(escaped, sizeof(escaped), object);
	if (attempt)
		message(LOG_WARNING,
			"series of the probe \"%s\" are called \"%s\", as another probe has its name "
			"already; rename one of them to choose another",
			escaped, name);
}

/* A probe that is not opened later counts as off: its count-tier_NAME is 0. */
static struct probe *add_probe_entry(struct probe_list *list, const char *object)
{
	struct probe *probe = &list->probes[list->count];

	*probe = (struct probe){ .subscriber = -1 };
	choose_probe_name(list, object, probe->name);
	publication_init(&list->publications[list->count++]);
	return probe;
}

/* The notification has the whole reason, as it is read without the log. */
static void report_probe_off(struct probe_list *list, const char *name, bool is_choice,
			     struct error *error)
{
	struct error text;

	error_set(&text, 0, "probe %s is off: %.900s", name, error->text);
	self_notify_later(list->self, is_choice ? HEALTH_WARNING : HEALTH_FAILURE, name, text.text);
	cause_log_once(&list->services->causes_logged, error, "probe %s", name);
	message(is_choice ? LOG_WARNING : LOG_ERR, "probe %s is off: %.900s", name, error->text);
}

/* Opens the object that the block names, or NAME.bpf.o. A probe that fails to open keeps its entry,
 * so that it shows as off. Without the engine's own object no probe is opened. */
static void open_probe_of_object(struct probe_list *list, const char *object)
{
	const struct probe_config *block = config_probe(list->config, object);
	struct services *services = list->services;
	struct probe *probe;
	const char *path = block ? block->object : NULL;
	char own[4096], name[CONFIG_NAME_MAX];
	struct error error;
	int status;

	if (block && !block->enable) {
		probe_mistake_disabled(block);
		return;
	}
	snprintf(own, sizeof(own), "%s/%s" OBJECT_SUFFIX, list->config->object_dir, object);
	path = path ?: own;
	if (!check_probe_name(object, path))
		return;
	probe = add_probe_entry(list, object);
	memcpy(name, probe->name, sizeof(name));
	if (!services->object.bpf)
		return;
	status = probe_open(probe, name, path, interval_of_probe(list, block), block, services,
			    dispatch_type_or_stock, &error);
	if (status == PROBE_NOT_ENABLED) {
		probe_mistake_not_enabled(&list->off, name, block, error.text);
		list->count--;
		return;
	}
	if (status) {
		report_probe_off(list, name, status == PROBE_NEEDS_OPTION, &error);
		return;
	}
	if (probe->on_threshold)
		probe_pause(probe);
	message(LOG_INFO, "probe %s is on (hook set %u)%s", name, probe->object.hook_set,
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

static void warn_of_own_object(const char *directory)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" OWN_OBJECT, directory);
	if (access(path, F_OK) == 0)
		message(LOG_NOTICE,
			"skipping %s: this version of the plugin has that object built in; delete "
			"the file if an older version has installed it",
			path);
}

/* Is the block about one of the objects in the directory? */
static bool is_of_directory(const struct config *config, const struct probe_config *block,
			    struct dirent *const *entries, int count)
{
	for (int i = 0; i < count; i++)
		if (config_probe(config, entries[i]->d_name) == block)
			return true;
	return false;
}

/* If the block switches the probe on, it shows as a probe that is off. */
static void report_missing_probe(struct probe_list *list, const struct probe_config *block,
				 struct dirent *const *entries, int count)
{
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	char name[CONFIG_NAME_MAX];
	struct error text;

	if (!names)
		return;
	for (int i = 0; i < count; i++)
		names[i] = entries[i]->d_name;
	probe_mistake_missing(&text, block, names);
	free(names);
	name_clean(name, sizeof(name), block->name);
	if (!block->enable || self_reserved(name)) {
		message(LOG_ERR, "%s", text.text);
		return;
	}
	self_report_off(list->self, LOG_ERR, add_probe_entry(list, block->name)->name, text.text);
}

/* Is there no object, neither in the directory nor by an option Object? */
static bool has_no_object(const struct config *config, int count)
{
	for (size_t i = 0; i < config->probe_count && count == 0; i++)
		if (config->probes[i].object)
			return false;
	return count <= 0;
}

/* Opens the objects that only the configuration names. */
static void open_configured(struct probe_list *list, struct dirent *const *entries, int count)
{
	const struct config *config = list->config;

	for (size_t i = 0; i < config->probe_count; i++) {
		const struct probe_config *block = &config->probes[i];

		if (is_of_directory(config, block, entries, count))
			continue;
		if (block->object)
			open_probe_of_object(list, block->name);
		else if (!has_no_object(config, count))
			report_missing_probe(list, block, entries, count);
	}
}

/* A probe's name is part of the names of its series, which are limited. */
static void log_long_names(const char *directory)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_long_name, alphasort);

	for (int i = 0; i < count; i++) {
		message(LOG_ERR,
			"skipping %s of ObjectDirectory \"%s\": its name has %d bytes or more; "
			"rename it",
			entries[i]->d_name, directory, CONFIG_NAME_MAX);
		free(entries[i]);
	}
	free(entries);
}

/* Shows as one probe that is off, since the names of the missing ones are unknown. */
static void report_no_objects(struct probe_list *list, const char *why)
{
	struct error text;

	error_set(&text, 0,
		  "no probe of ObjectDirectory \"%.700s\" is on: %s; set it to "
		  "where the BPF objects are installed",
		  list->config->object_dir, why);
	self_report_off(list->self, LOG_ERR, add_probe_entry(list, SELF_DIRECTORY)->name,
			text.text);
}

static bool allocate_probes(struct probe_list *list, size_t count)
{
	list->probes = calloc(count, sizeof(*list->probes));
	list->publications = calloc(count, sizeof(*list->publications));
	return list->probes && list->publications;
}

static void open_objects(struct probe_list *list)
{
	const struct config *config = list->config;
	struct dirent **entries = NULL;
	int count = scandir(config->object_dir, &entries, is_probe_object, alphasort);
	int status = errno;
	bool allocated;

	if (list->services->object.bpf)
		warn_of_own_object(config->object_dir);
	/* One more for SELF_DIRECTORY. */
	allocated =
		allocate_probes(list, (size_t)(count > 0 ? count : 0) + config->probe_count + 1);
	if (allocated && has_no_object(config, count))
		report_no_objects(list, count < 0 ? strerror(status)
						  : "it has no file NAME" OBJECT_SUFFIX);
	log_long_names(config->object_dir);
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;

		name[strlen(name) - strlen(OBJECT_SUFFIX)] = '\0';
		if (allocated)
			open_probe_of_object(list, name);
	}
	if (allocated)
		open_configured(list, entries, count);
	probe_mistake_off_by_default(&list->off);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static void need_types(const struct probe_list *list)
{
	struct metric_type ignored;

	dispatch_type_or_stock("bucket", &ignored);
	if (list->config->buckets)
		lacking_need("bucket");
	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < list->probes[i].table_count; j++) {
			const struct schema *schema = &list->probes[i].tables[j].schema;

			for (size_t k = 0; k < schema->metric_count; k++)
				lacking_need(
					schema->columns[schema->metrics[k].column[0]].tag.type);
		}
}

void probe_list_open(struct probe_list *list, const struct config *config, double interval_s,
		     struct services *services, struct self *self)
{
	*list = (struct probe_list){
		.config = config,
		.interval_s = interval_s,
		.services = services,
		.self = self,
	};
	open_objects(list);
	need_types(list);
}

void probe_list_done(struct probe_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		probe_done(&list->probes[i]);
	free(list->probes);
	free(list->publications);
	*list = (struct probe_list){ 0 };
}
