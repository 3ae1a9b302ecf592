/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block. An option is a row of a table: its name, and the
 * function that takes its values. Whatever is wrong costs one message with
 * the offending text and that option (or block) alone; so does what can have no
 * effect.
 */
#include "config.h"

#include "cgroup.h"
#include "mistake.h"
#include "name.h"
#include "option.h"
#include "system/message.h"

#include <errno.h>
#include <liboconfig/oconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMAND_MAX 15 /* bytes the kernel keeps of a command name */
#define TOP_N 10
#define TOP_N_MAX 1000
#define MOUNTS "/proc/self/mounts"

struct context {
	struct config *config;
	struct service_config *service;
	struct probe_config *probe;
	char block[CONFIG_NAME_MAX + 16]; /* for messages, e.g. `<Service "web">` */
	struct mistakes *mistakes;
	unsigned excess_services, excess_probes; /* blocks that there is no room for */
};

typedef bool option_fn(struct context *context, const oconfig_item_t *item);

struct option {
	const char *name;
	option_fn *take;
	enum { ONCE, OFTEN, BLOCK } kind;
};

/* A line of this block, or a block in it, is ignored: false. */
#define mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, (context)->block, item, __VA_ARGS__)
#define block_mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, NULL, item, __VA_ARGS__)

/* Operators put numbers and booleans in quotes, as other programs want them. */
static const char *unquoted(const oconfig_item_t *item)
{
	return option_string(item) ? ", without quotes" : "";
}

static bool wants_boolean(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes true or false%s", unquoted(item));
}

static bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low,
			unsigned high)
{
	return mistake(context, item, "it takes a whole number from %u to %u%s", low, high,
		       unquoted(item));
}

static bool wants_seconds(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes a number of seconds from 0.1 to 86400%s",
		       unquoted(item));
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

static bool add_string(struct context *context, const oconfig_item_t *item, struct strings *list,
		       const char *text)
{
	char *copy = strdup(text);
	char **added = copy ? append(&list->item, &list->count, sizeof(*added)) : NULL;

	if (!added) {
		free(copy);
		return mistake(context, item, "there is no memory for it");
	}
	*added = copy;
	return true;
}

/* Does a rule hold for all that another one, which comes later, holds for? */
typedef bool covers_fn(const char *rule, const char *later);

static bool is_same(const char *rule, const char *later)
{
	return !strcmp(rule, later);
}

static bool is_above(const char *rule, const char *later)
{
	size_t length = strlen(rule);

	return !strncmp(rule, later, length) && (later[length] == '\0' || later[length] == '/');
}

/* Adds a rule, of the kind whose list is at this offset of a service, unless it can have
 * no effect: of several blocks that fit a process the first one has it. */
static bool add_rule(struct context *context, const oconfig_item_t *item, size_t offset,
		     const char *text, covers_fn *covers)
{
	const struct config *config = context->config;

	/* The last one is that of the context. */
	for (size_t i = 0; i < config->service_count; i++) {
		const struct service_config *s = &config->services[i];
		const struct strings *list = (const struct strings *)((const char *)s + offset);

		for (size_t j = 0; j < list->count; j++) {
			if (!covers(list->item[j], text))
				continue;
			if (s == context->service)
				return mistake(context, item, "%s \"%s\" of this block covers it",
					       item->key, list->item[j]);
			return mistake(
				context, item,
				"%s \"%s\" of <Service \"%s\">, which comes first, covers it",
				item->key, list->item[j], s->name);
		}
	}
	return add_string(context, item, (struct strings *)((char *)context->service + offset),
			  text);
}

static bool take_command(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char command[COMMAND_MAX + 1];

	if (!text)
		return mistake(context, item, "it takes one string that is not empty");
	if (text[0] == '/' || !strncmp(text, "./", 2) || !strncmp(text, "../", 3))
		return mistake(
			context, item,
			"it takes a command name as ps -o comm shows it, such as \"%s\"; for "
			"a path use ProcessMatch",
			strrchr(text, '/') + 1);
	snprintf(command, sizeof(command), "%s", text);
	if (strlen(text) > COMMAND_MAX)
		mistake_note(context->mistakes, context->block, item,
			     "its first %d bytes are compared, as the kernel keeps no more of a "
			     "command name",
			     COMMAND_MAX);
	return add_rule(context, item, offsetof(struct service_config, commands), command, is_same);
}

static bool take_match(struct context *context, const oconfig_item_t *item)
{
	struct service_config *service = context->service;
	const char *text = option_string(item);
	char why[256] = "it takes one regular expression";
	struct pattern pattern, *added;

	if (!text || !pattern_init(&pattern, text, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (!add_rule(context, item, offsetof(struct service_config, match_texts), text, is_same)) {
		pattern_done(&pattern);
		return false;
	}
	added = append(&service->matches, &service->match_count, sizeof(*added));
	if (!added) {
		pattern_done(&pattern);
		return mistake(context, item, "there is no memory for it");
	}
	*added = pattern;
	return true;
}

static bool take_cgroup(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char why[256] = "it takes the path of a cgroup below the cgroup2 root";
	char *path = text ? strdup(text) : NULL;
	bool taken;

	if (path && cgroup_path(text, MOUNTS, path, why, sizeof(why)))
		taken = add_rule(context, item, offsetof(struct service_config, cgroups), path,
				 is_above);
	else
		taken = mistake(context, item, "%s",
				text && !path ? "there is no memory for it" : why);
	free(path);
	return taken;
}

static bool take_pid_file(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || text[0] != '/')
		return mistake(context, item, "it takes one absolute path");
	return add_rule(context, item, offsetof(struct service_config, pid_files), text, is_same);
}

static bool take_per_process(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->service->per_process) || wants_boolean(context, item);
}

static bool take_top_n(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, TOP_N_MAX, &context->service->top_n) ||
	       wants_whole(context, item, 1, TOP_N_MAX);
}

static bool take_enable(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->probe->enable) || wants_boolean(context, item);
}

static bool take_probe_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->probe->interval_s) ||
	       wants_seconds(context, item);
}

static bool take_path(struct context *context, const oconfig_item_t *item, char **path)
{
	const char *text = option_string(item);
	char *copy;

	if (!text || text[0] != '/')
		return mistake(context, item, "it takes one absolute path");
	copy = strdup(text);
	if (!copy)
		return mistake(context, item, "there is no memory for it");
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
	const char *text = option_string(item);

	if (!text)
		return mistake(context, item, "it takes one string that is not empty");
	return add_string(context, item, &context->probe->options, text);
}

static bool take_rows(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 2, CONFIG_ROWS_MAX, &context->probe->rows) ||
	       wants_whole(context, item, 2, CONFIG_ROWS_MAX);
}

static bool take_tier(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_TIERS_MAX, &context->probe->tier) ||
	       wants_whole(context, item, 1, CONFIG_TIERS_MAX);
}

static bool take_object_dir(struct context *context, const oconfig_item_t *item)
{
	return take_path(context, item, &context->config->object_dir);
}

static bool take_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->config->interval_s) ||
	       wants_seconds(context, item);
}

static bool take_max_services(struct context *context, const oconfig_item_t *item)
{
	if (!option_whole(item, 1, CONFIG_MAX_SERVICES, &context->config->max_services))
		return wants_whole(context, item, 1, CONFIG_MAX_SERVICES);
	context->config->max_services_set = true;
	return true;
}

static bool take_max_memory(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_MAX_MEMORY_MIB, &context->config->max_memory_mib) ||
	       wants_whole(context, item, 1, CONFIG_MAX_MEMORY_MIB);
}

static bool take_command_names(struct context *context, const oconfig_item_t *item)
{
	if (!option_boolean(item, &context->config->command_names))
		return wants_boolean(context, item);
	context->config->command_names_set = true;
	return true;
}

static bool take_buckets(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->config->buckets) || wants_boolean(context, item);
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
		return mistake(context, item, "it takes 1 to 16 numbers");
	for (int i = 0; i < item->values_num; i++) {
		const oconfig_value_t *v = &item->values[i];

		if (v->type != OCONFIG_TYPE_NUMBER ||
		    !(v->value.number > 0 && v->value.number < 100))
			return mistake(context, item, "it takes numbers above 0 and below 100");
		for (int j = 0; j < i; j++)
			if (same_percentile(item->values[j].value.number, v->value.number))
				return mistake(context, item, "it has a percentile twice");
	}
	for (int i = 0; i < item->values_num; i++)
		config->percentiles[i] = item->values[i].value.number;
	config->percentile_count = (size_t)item->values_num;
	return true;
}

static option_fn take_service, take_probe;

static const struct option plugin_options[] = {
	{ "ObjectDirectory", take_object_dir, ONCE },
	{ "Interval", take_interval, ONCE },
	{ "MaxServices", take_max_services, ONCE },
	{ "MaxMemory", take_max_memory, ONCE },
	{ "CommandNames", take_command_names, ONCE },
	{ "Percentile", take_percentile, ONCE },
	{ "Buckets", take_buckets, ONCE },
	{ "Service", take_service, BLOCK },
	{ "Probe", take_probe, BLOCK },
	{ NULL, NULL, ONCE },
};

static const struct option service_options[] = {
	{ "Process", take_command, OFTEN },
	{ "ProcessMatch", take_match, OFTEN },
	{ "Cgroup", take_cgroup, OFTEN },
	{ "PidFile", take_pid_file, OFTEN },
	{ "PerProcess", take_per_process, ONCE },
	{ "TopN", take_top_n, ONCE },
	{ NULL, NULL, ONCE },
};

static const struct option probe_options[] = {
	{ "Enable", take_enable, ONCE },
	{ "Interval", take_probe_interval, ONCE },
	{ "Object", take_object, ONCE },
	{ "Option", take_option, OFTEN },
	{ "Rows", take_rows, ONCE },
	{ "Tier", take_tier, ONCE },
	{ NULL, NULL, ONCE },
};

#define OPTIONS_MAX 16 /* of a block */

static const struct option *option_named(const struct option *options, const char *name)
{
	while (options->name && strcasecmp(options->name, name) != 0)
		options++;
	return options->name ? options : NULL;
}

/* Of what is no option here, what was perhaps meant. */
static void take_unknown(struct context *context, const oconfig_item_t *item,
			 const struct option *options)
{
	static const struct {
		const struct option *options;
		const char *block;
	} others[] = {
		{ service_options, "in a Service block" },
		{ probe_options, "in a Probe block" },
		{ plugin_options, "in <Plugin ebpf> itself" },
	};
	const char *names[OPTIONS_MAX + 1] = { NULL }, *near;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (option_named(others[i].options, item->key)) {
			mistake(context, item, "it belongs %s", others[i].block);
			return;
		}
	for (size_t i = 0; options[i].name && i < OPTIONS_MAX; i++)
		names[i] = options[i].name;
	near = mistake_near(item->key, names);
	if (near)
		mistake(context, item, "there is no such option; is %s meant?", near);
	else
		mistake(context, item, "there is no such option, see collectd-ebpf(5)");
}

static void take_options(struct context *context, const oconfig_item_t *block,
			 const struct option *options)
{
	bool seen[OPTIONS_MAX] = { false };

	for (int i = 0; i < block->children_num; i++) {
		const oconfig_item_t *item = &block->children[i];
		const struct option *option = option_named(options, item->key);

		if (!option)
			take_unknown(context, item, options);
		else if (option->kind != BLOCK && item->children_num)
			mistake(context, item, "it is a line, not a block");
		else if (option->take(context, item) && option->kind == ONCE) {
			if (seen[option - options])
				mistake_note(context->mistakes, context->block, item,
					     "of several such lines the last one counts");
			seen[option - options] = true;
		}
	}
}

static void service_config_done(struct service_config *service);

/* Would their series have one name? */
static bool same_name(const char *a, const char *b)
{
	char left[CONFIG_NAME_MAX], right[CONFIG_NAME_MAX];

	name_clean(left, sizeof(left), a);
	name_clean(right, sizeof(right), b);
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
	const char *name = option_string(block);

	if (!name || strlen(name) >= CONFIG_NAME_MAX || strchr(name, '/'))
		block_mistake(context, block, "it takes one name of up to %d bytes without a slash",
			      CONFIG_NAME_MAX - 1);
	else if (name_is_reserved(name))
		block_mistake(context, block, "this name is the plugin's own, choose another");
	else if (taken(context->config, name))
		block_mistake(context, block, "an earlier block has this name");
	else
		return name;
	return NULL;
}

static struct context inside(const struct context *parent, const char *kind, const char *name)
{
	struct context context = { .config = parent->config, .mistakes = parent->mistakes };

	snprintf(context.block, sizeof(context.block), "<%s \"%s\">", kind, name);
	return context;
}

static bool is_empty(const struct service_config *service)
{
	return service->commands.count + service->match_count + service->cgroups.count +
		       service->pid_files.count ==
	       0;
}

static void check_top_n(struct context *context, const oconfig_item_t *block)
{
	for (int i = 0; i < block->children_num && !context->service->per_process; i++) {
		const oconfig_item_t *item = &block->children[i];
		unsigned n;

		if (!strcasecmp(item->key, "TopN") && option_whole(item, 1, TOP_N_MAX, &n))
			mistake(context, item, "it goes with PerProcess true");
	}
}

static bool take_service(struct context *parent, const oconfig_item_t *block)
{
	struct config *config = parent->config;
	struct service_config *service;
	struct context context;
	const char *name;

	if (config->service_count == CONFIG_SERVICES_MAX) {
		parent->excess_services++;
		return false;
	}
	name = block_name(parent, block, has_service);
	if (!name)
		return false;
	service = append(&config->services, &config->service_count, sizeof(*service));
	if (!service)
		return block_mistake(parent, block, "there is no memory for it");
	strcpy(service->name, name);
	service->top_n = TOP_N;
	context = inside(parent, "Service", name);
	context.service = service;
	take_options(&context, block, service_options);
	check_top_n(&context, block);
	if (!is_empty(service))
		return true;
	service_config_done(service);
	config->service_count--;
	return block_mistake(
		parent, block,
		"no process would be in it, as it has no Process, ProcessMatch, Cgroup "
		"or PidFile that can be used");
}

static bool take_probe(struct context *parent, const oconfig_item_t *block)
{
	struct config *config = parent->config;
	struct probe_config *probe;
	struct context context;
	const char *name;

	if (config->probe_count == CONFIG_PROBES_MAX) {
		parent->excess_probes++;
		return false;
	}
	name = block_name(parent, block, has_probe);
	if (!name)
		return false;
	probe = append(&config->probes, &config->probe_count, sizeof(*probe));
	if (!probe)
		return block_mistake(parent, block, "there is no memory for it");
	name_clean(probe->name, sizeof(probe->name), name);
	probe->enable = true;
	context = inside(parent, "Probe", name);
	context.probe = probe;
	take_options(&context, block, probe_options);
	return true;
}

int config_init(struct config *config, const char *object_dir)
{
	static const double percentiles[] = { 50, 90, 95, 99, 99.9 };

	*config = (struct config){ .object_dir = strdup(object_dir),
				   .max_services = 256,
				   .max_memory_mib = 256 };
	config->percentile_count = sizeof(percentiles) / sizeof(*percentiles);
	memcpy(config->percentiles, percentiles, sizeof(percentiles));
	return config->object_dir ? 0 : -ENOMEM;
}

static void tell_excess(unsigned excess, unsigned most, const char *kind, const char *last)
{
	if (excess)
		message(LOG_ERR,
			"ignoring %u %s blocks after <%s \"%s\">: %u is the most there can be",
			excess, kind, kind, last, most);
}

unsigned config_read(struct config *config, const struct oconfig_item_s *block)
{
	struct mistakes mistakes = { 0 };
	struct context context = {
		.config = config,
		.block = "<Plugin ebpf>",
		.mistakes = &mistakes,
	};

	take_options(&context, block, plugin_options);
	mistakes_end(&mistakes);
	if (context.excess_services)
		tell_excess(context.excess_services, CONFIG_SERVICES_MAX, "Service",
			    config->services[config->service_count - 1].name);
	if (context.excess_probes)
		tell_excess(context.excess_probes, CONFIG_PROBES_MAX, "Probe",
			    config->probes[config->probe_count - 1].name);
	return mistakes.ignored + context.excess_services + context.excess_probes;
}

void config_check(const struct config *config)
{
	if (config->max_services_set && !config_command_names(config))
		message(LOG_WARNING,
			"ignoring MaxServices %u in <Plugin ebpf>: %s, so command names have no "
			"rows; CommandNames true gives them rows",
			config->max_services,
			config->command_names_set ? "CommandNames is false"
						  : "there are Service blocks");
}

bool config_command_names(const struct config *config)
{
	return config->command_names_set ? config->command_names : config->service_count == 0;
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
		if (same_name(config->probes[i].name, name))
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
	strings_done(&service->match_texts);
	for (size_t i = 0; i < service->match_count; i++)
		pattern_done(&service->matches[i]);
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
