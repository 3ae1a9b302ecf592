/* SPDX-License-Identifier: MIT */
/*
 * <Service "NAME">: which processes are in it, and what is told of them.
 */
#include "service_block.h"

#include "cgroup.h"
#include "option.h"
#include "response.h"
#include "system/glob.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMAND_MAX 15 /* bytes the kernel keeps of a command name */
#define TOP_N 10
#define TOP_N_MAX 1000
#define MOUNTS "/proc/self/mounts"

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
	return block_add_string(context, item,
				(struct strings *)((char *)context->service + offset), text);
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
	added = block_append(&service->matches, &service->match_count, sizeof(*added));
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

static bool take_unit(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char why[256] = "it takes the name of a unit, such as \"nginx.service\"";

	if (!text || !unit_is_usable(text, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	return add_rule(context, item, offsetof(struct service_config, units), text, unit_covers);
}

static bool container_covers(const char *rule, const char *later)
{
	return is_same(rule, later) || (!glob_is_pattern(later) && glob_match(rule, later));
}

static bool take_container(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || strchr(text, '/'))
		return mistake(
			context, item,
			"it takes the name or the id of a container, such as \"web\"; of one "
			"in a pod \"NAMESPACE_POD_CONTAINER\"");
	return add_rule(context, item, offsetof(struct service_config, containers), text,
			container_covers);
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

/* The name of a class, once, and that of what cannot be read. */
static bool add_class(struct context *context, const oconfig_item_t *item, const char *name)
{
	struct strings *classes = &context->config->classes;

	if (classes->count == 0 && !block_add_string(context, item, classes, RESPONSE_UNKNOWN))
		return false;
	return strings_have(classes, name) || block_add_string(context, item, classes, name);
}

static const struct response_rule *find_covering(const struct response_rules *rules,
						 const struct response_rule *rule)
{
	for (size_t i = 0; i < rules->count; i++)
		if (response_covers(&rules->rule[i], rule))
			return &rules->rule[i];
	return NULL;
}

static bool take_response(struct context *context, const oconfig_item_t *item)
{
	struct response_rules *rules = &context->service->responses;
	const char *class_name = option_string_at(item, 0, 2), *text = option_string_at(item, 1, 2);
	char why[256] = "it takes the name of a class, and what its responses begin with, such as "
			"\"5xx\" \"HTTP/1.? 5\"";
	const struct response_rule *earlier;
	struct response_rule rule;

	if (!class_name || !text || !response_read(class_name, text, &rule, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (rules->count == RESPONSE_RULES_MAX)
		return mistake(context, item, "a service has %d such lines at most",
			       RESPONSE_RULES_MAX);
	earlier = find_covering(rules, &rule);
	if (earlier)
		return mistake(context, item, "an earlier line, of class \"%s\", covers it",
			       earlier->class_name);
	if (!add_class(context, item, class_name))
		return false;
	if (response_has_lost_backslash(text))
		mistake_note(
			context->mistakes, context->block, item,
			"x and two digits stand for themselves here; for the octet of this "
			"number write two backslashes before them, as collectd takes one away");
	rules->rule[rules->count++] = rule;
	return true;
}

const struct option service_options[] = {
	{ "Process", take_command, OFTEN },
	{ "ProcessMatch", take_match, OFTEN },
	{ "Unit", take_unit, OFTEN },
	{ "Container", take_container, OFTEN },
	{ "Cgroup", take_cgroup, OFTEN },
	{ "PidFile", take_pid_file, OFTEN },
	{ "PerProcess", take_per_process, ONCE },
	{ "TopN", take_top_n, ONCE },
	{ "Response", take_response, OFTEN },
	{ .name = NULL },
};

static bool has_service(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config_same_name(config->services[i].name, name))
			return true;
	return false;
}

static bool is_empty(const struct service_config *service)
{
	return service->commands.count + service->match_count + service->cgroups.count +
		       service->units.count + service->containers.count +
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

bool service_block_take(struct context *parent, const oconfig_item_t *block)
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
	service = block_append(&config->services, &config->service_count, sizeof(*service));
	if (!service)
		return block_mistake(parent, block, "there is no memory for it");
	strcpy(service->name, name);
	service->top_n = TOP_N;
	context = block_inside(parent, "Service", name);
	context.service = service;
	block_take(&context, block, service_options);
	check_top_n(&context, block);
	if (!is_empty(service))
		return true;
	service_config_done(service);
	config->service_count--;
	return block_mistake(
		parent, block,
		"no process would be in it, as it has no Unit, Container, Process, ProcessMatch, "
		"Cgroup or PidFile that can be used");
}
