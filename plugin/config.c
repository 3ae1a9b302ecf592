/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block. An option is a row of a table: its name, and the
 * function that takes its values. Whatever is wrong costs one message with
 * the offending text and that option (or block) alone.
 */
#include "config.h"

#include "message.h"
#include "option.h"
#include "pattern.h"
#include "subject.h"

#include <errno.h>
#include <liboconfig/oconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMAND_MAX 15 /* bytes the kernel keeps of a command name */

struct context {
	struct config *config;
	struct service_config *service;
	struct probe_config *probe;
	const char *block; /* for messages, e.g. `<Service "web">` */
	unsigned mistakes;
};

typedef bool option_fn(struct context *context, const oconfig_item_t *item);

struct option {
	const char *name;
	option_fn *take;
};

static bool mistake(struct context *context, const oconfig_item_t *item, const char *why)
{
	char text[512];

	option_text(item, text, sizeof(text));
	message(LOG_ERR, "%s, option %s%s: %s; skipping it", context->block, item->key, text, why);
	context->mistakes++;
	return false;
}

/* Grows an array by one zeroed element; NULL: no memory, the array is as before. */
static void *append(void *array, size_t *count, size_t size)
{
	char *grown = realloc(*(void **)array, (*count + 1) * size);

	if (!grown)
		return NULL;
	*(void **)array = grown;
	grown += *count * size;
	memset(grown, 0, size);
	(*count)++;
	return grown;
}

static bool take_string(struct context *context, const oconfig_item_t *item, struct strings *list)
{
	const char *text = option_string(item);
	char *copy, **place;

	if (!text)
		return mistake(context, item, "wants one non-empty string");
	copy = strdup(text);
	place = copy ? append(&list->item, &list->count, sizeof(*place)) : NULL;
	if (!place) {
		free(copy);
		return mistake(context, item, "no memory");
	}
	*place = copy;
	return true;
}

static bool take_command(struct context *context, const oconfig_item_t *item)
{
	struct strings *list = &context->service->commands;

	if (!take_string(context, item, list))
		return false;
	if (strlen(list->item[list->count - 1]) > COMMAND_MAX) {
		message(LOG_NOTICE,
			"%s, option Process \"%s\": the kernel keeps %d bytes of a command name, "
			"comparing those",
			context->block, list->item[list->count - 1], COMMAND_MAX);
		list->item[list->count - 1][COMMAND_MAX] = '\0';
	}
	return true;
}

static bool take_match(struct context *context, const oconfig_item_t *item)
{
	struct service_config *service = context->service;
	const char *text = option_string(item);
	char why[256] = "wants one regular expression";
	regex_t compiled, *place;

	if (!text || !pattern_compile(text, &compiled, why, sizeof(why)))
		return mistake(context, item, why);
	place = append(&service->matches, &service->match_count, sizeof(*place));
	if (!place) {
		regfree(&compiled);
		return mistake(context, item, "no memory");
	}
	*place = compiled;
	return true;
}

static bool take_cgroup(struct context *context, const oconfig_item_t *item)
{
	struct strings *list = &context->service->cgroups;
	const char *text = option_string(item);
	char *path, *end;

	if (!text)
		return mistake(context, item, "wants the path of a cgroup below the cgroup2 root");
	text += strspn(text, "/");
	if (*text == '\0')
		return mistake(context, item, "the root cgroup holds every process");
	if (!take_string(context, item, list))
		return false;
	path = list->item[list->count - 1];
	memmove(path, path + strspn(path, "/"), strlen(path + strspn(path, "/")) + 1);
	for (end = path + strlen(path); end > path && end[-1] == '/'; end--)
		end[-1] = '\0';
	return true;
}

static bool take_pid_file(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || text[0] != '/')
		return mistake(context, item, "wants one absolute path");
	return take_string(context, item, &context->service->pid_files);
}

static bool take_per_process(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->service->per_process) ||
	       mistake(context, item, "wants true or false");
}

static bool take_top_n(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, 1000, &context->service->top_n) ||
	       mistake(context, item, "wants a whole number from 1 to 1000");
}

static bool take_enable(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->probe->enable) ||
	       mistake(context, item, "wants true or false");
}

static bool take_probe_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->probe->interval_s) ||
	       mistake(context, item, "wants seconds, 0.1 to 86400");
}

static bool take_path(struct context *context, const oconfig_item_t *item, char **path)
{
	const char *text = option_string(item);
	char *copy;

	if (!text || text[0] != '/')
		return mistake(context, item, "wants one absolute path");
	copy = strdup(text);
	if (!copy)
		return mistake(context, item, "no memory");
	free(*path);
	*path = copy;
	return true;
}

static bool take_object(struct context *context, const oconfig_item_t *item)
{
	return take_path(context, item, &context->probe->object);
}

static bool take_option(struct context *context, const oconfig_item_t *item)
{
	return take_string(context, item, &context->probe->options);
}

static bool take_rows(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 2, CONFIG_ROWS_MAX, &context->probe->rows) ||
	       mistake(context, item, "wants a whole number from 2 to 1024");
}

static bool take_tier(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_TIERS_MAX, &context->probe->tier) ||
	       mistake(context, item, "wants a whole number from 1 to 16");
}

static bool take_object_dir(struct context *context, const oconfig_item_t *item)
{
	return take_path(context, item, &context->config->object_dir);
}

static bool take_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->config->interval_s) ||
	       mistake(context, item, "wants seconds, 0.1 to 86400");
}

static bool take_max_services(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_MAX_SERVICES, &context->config->max_services) ||
	       mistake(context, item, "wants a whole number from 1 to 4096");
}

static bool take_command_names(struct context *context, const oconfig_item_t *item)
{
	if (!option_boolean(item, &context->config->command_names))
		return mistake(context, item, "wants true or false");
	context->config->command_names_set = true;
	return true;
}

static bool take_buckets(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->config->buckets) ||
	       mistake(context, item, "wants true or false");
}

/* Would their series have one name? */
static bool same_percentile(double a, double b)
{
	char left[32], right[32];

	snprintf(left, sizeof(left), "%g", a);
	snprintf(right, sizeof(right), "%g", b);
	return !strcmp(left, right);
}

static bool take_percentile(struct context *context, const oconfig_item_t *item)
{
	struct config *config = context->config;

	if (item->values_num < 1 || item->values_num > CONFIG_PERCENTILES_MAX)
		return mistake(context, item, "wants 1 to 16 numbers");
	for (int i = 0; i < item->values_num; i++) {
		const oconfig_value_t *v = &item->values[i];

		if (v->type != OCONFIG_TYPE_NUMBER ||
		    !(v->value.number > 0 && v->value.number < 100))
			return mistake(context, item, "wants numbers above 0 and below 100");
		for (int j = 0; j < i; j++)
			if (same_percentile(item->values[j].value.number, v->value.number))
				return mistake(context, item, "names a percentile twice");
	}
	for (int i = 0; i < item->values_num; i++)
		config->percentiles[i] = item->values[i].value.number;
	config->percentile_count = (size_t)item->values_num;
	return true;
}

static void take_options(struct context *context, const oconfig_item_t *block,
			 const struct option *options)
{
	for (int i = 0; i < block->children_num; i++) {
		const oconfig_item_t *item = &block->children[i];
		const struct option *option = options;

		while (option->name && strcasecmp(option->name, item->key) != 0)
			option++;
		if (option->name)
			option->take(context, item);
		else
			mistake(context, item, "no such option, see collectd-ebpf(5)");
	}
}

static void service_config_done(struct service_config *service);

/* Would their series have one name? */
static bool same_name(const char *a, const char *b)
{
	char left[CONFIG_NAME_MAX], right[CONFIG_NAME_MAX];

	subject_clean(left, sizeof(left), a);
	subject_clean(right, sizeof(right), b);
	return !strcmp(left, right);
}

static bool has_service(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (same_name(config->services[i].name, name))
			return true;
	return false;
}

static bool has_probe(const struct config *config, const char *name)
{
	return config_probe(config, name) != NULL;
}

/* The name of a new Service or Probe block, or NULL after a message. */
static const char *block_name(struct context *context, const oconfig_item_t *block,
			      bool (*taken)(const struct config *config, const char *name))
{
	const char *name = option_string(block), *why;

	if (!name || strlen(name) >= CONFIG_NAME_MAX || strchr(name, '/'))
		why = "wants a name, up to 63 bytes and without a slash";
	else if (subject_reserved(name))
		why = "this name is the plugin's own, choose another";
	else if (taken(context->config, name))
		why = "a second block of this name";
	else
		return name;
	mistake(context, block, why);
	return NULL;
}

/* What is in the block of a service or probe. */
static void take_block(struct context *parent, const oconfig_item_t *block,
		       struct service_config *service, struct probe_config *probe,
		       const struct option *options)
{
	char title[CONFIG_NAME_MAX + 16];
	struct context context = {
		.config = parent->config,
		.service = service,
		.probe = probe,
		.block = title,
	};

	snprintf(title, sizeof(title), "<%s \"%s\">", service ? "Service" : "Probe",
		 service ? service->name : probe->name);
	take_options(&context, block, options);
	parent->mistakes += context.mistakes;
}

static bool take_service(struct context *parent, const oconfig_item_t *block)
{
	static const struct option options[] = {
		{ "Process", take_command },
		{ "ProcessMatch", take_match },
		{ "Cgroup", take_cgroup },
		{ "PidFile", take_pid_file },
		{ "PerProcess", take_per_process },
		{ "TopN", take_top_n },
		{ NULL, NULL },
	};
	struct config *config = parent->config;
	const char *name = block_name(parent, block, has_service);
	struct service_config *service;

	if (!name)
		return false;
	if (config->service_count == CONFIG_SERVICES_MAX)
		return mistake(parent, block, "one more than the 512 that are possible");
	service = append(&config->services, &config->service_count, sizeof(*service));
	if (!service)
		return mistake(parent, block, "no memory");
	strcpy(service->name, name);
	service->top_n = 10;
	take_block(parent, block, service, NULL, options);
	if (service->commands.count + service->match_count + service->cgroups.count +
		    service->pid_files.count >
	    0)
		return true;
	service_config_done(service);
	config->service_count--;
	return mistake(
		parent, block,
		"has no valid Process, ProcessMatch, Cgroup or PidFile, so no process is in it");
}

static bool take_probe(struct context *parent, const oconfig_item_t *block)
{
	static const struct option options[] = {
		{ "Enable", take_enable },
		{ "Interval", take_probe_interval },
		{ "Object", take_object },
		{ "Option", take_option },
		{ "Rows", take_rows },
		{ "Tier", take_tier },
		{ NULL, NULL },
	};
	struct config *config = parent->config;
	const char *name = block_name(parent, block, has_probe);
	struct probe_config *probe;

	if (!name)
		return false;
	probe = append(&config->probes, &config->probe_count, sizeof(*probe));
	if (!probe)
		return mistake(parent, block, "no memory");
	strcpy(probe->name, name);
	probe->enable = true;
	probe->rows = CONFIG_ROWS;
	take_block(parent, block, NULL, probe, options);
	return true;
}

int config_init(struct config *config, const char *object_dir)
{
	static const double percentiles[] = { 50, 90, 95, 99, 99.9 };

	*config = (struct config){ .object_dir = strdup(object_dir), .max_services = 256 };
	config->percentile_count = sizeof(percentiles) / sizeof(*percentiles);
	memcpy(config->percentiles, percentiles, sizeof(percentiles));
	return config->object_dir ? 0 : -ENOMEM;
}

unsigned config_read(struct config *config, const struct oconfig_item_s *block)
{
	static const struct option options[] = {
		{ "ObjectDirectory", take_object_dir },
		{ "Interval", take_interval },
		{ "MaxServices", take_max_services },
		{ "CommandNames", take_command_names },
		{ "Percentile", take_percentile },
		{ "Buckets", take_buckets },
		{ "Service", take_service },
		{ "Probe", take_probe },
		{ NULL, NULL },
	};
	struct context context = { .config = config, .block = "<Plugin ebpf>" };

	take_options(&context, block, options);
	return context.mistakes;
}

bool config_command_names(const struct config *config)
{
	return config->command_names_set ? config->command_names : config->service_count == 0;
}

const struct probe_config *config_probe(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->probe_count; i++)
		if (!strcmp(config->probes[i].name, name))
			return &config->probes[i];
	return NULL;
}

static void strings_done(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	*list = (struct strings){ 0 };
}

static void service_config_done(struct service_config *service)
{
	strings_done(&service->commands);
	strings_done(&service->cgroups);
	strings_done(&service->pid_files);
	for (size_t i = 0; i < service->match_count; i++)
		regfree(&service->matches[i]);
	free(service->matches);
	*service = (struct service_config){ 0 };
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		service_config_done(&config->services[i]);
	free(config->services);
	for (size_t i = 0; i < config->probe_count; i++) {
		strings_done(&config->probes[i].options);
		free(config->probes[i].object);
	}
	free(config->probes);
	free(config->object_dir);
	*config = (struct config){ 0 };
}
