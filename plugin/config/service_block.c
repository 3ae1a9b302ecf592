/* SPDX-License-Identifier: MIT */
/*
 * <Service "NAME">: which processes are in it, and what is measured of them.
 */
#include "service_block.h"

#include "cgroup.h"
#include "option.h"
#include "response_rule.h"
#include "unit.h"
#include "util/glob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMAND_MAX 15 /* bytes the kernel keeps of a command name */
#define TOP_N 10
#define TOP_N_MAX 1000
#define MOUNTS_FILE "/proc/self/mounts"

/* Does a rule fit everything that a later one fits? */
typedef bool covers_fn(const char *rule, const char *later);

static bool is_same_rule(const char *rule, const char *later)
{
	return !strcmp(rule, later);
}

static bool is_cgroup_above(const char *rule, const char *later)
{
	size_t length = strlen(rule);

	return !strncmp(rule, later, length) && (later[length] == '\0' || later[length] == '/');
}

static struct strings *rule_list_at(struct service_config *service, size_t offset)
{
	return (struct strings *)((char *)service + offset);
}

/* The rule of a service that covers a text, or NULL. */
static const char *find_covering_rule(struct service_config *service, size_t offset,
				      const char *text, covers_fn *covers)
{
	const struct strings *list = rule_list_at(service, offset);

	for (size_t i = 0; i < list->count; i++)
		if (covers(list->item[i], text))
			return list->item[i];
	return NULL;
}

/* A block that is continued later in the file may add a rule that covers one of a block between. */
static void note_covered_rules(struct context *context, const oconfig_item_t *item, size_t offset,
			       const char *text, covers_fn *covers)
{
	struct service_config *end = context->config->services + context->config->service_count;

	for (struct service_config *s = context->service + 1; s < end; s++) {
		const struct strings *list = rule_list_at(s, offset);

		for (size_t i = 0; i < list->count; i++)
			if (covers(text, list->item[i]))
				line_note(context, item,
					  "%s \"%s\" of <Service \"%s\"> has no effect, as it "
					  "comes later",
					  item->key, list->item[i], s->name);
	}
}

/* Adds a rule to the list at this offset of a service, unless it can have no effect: of several blocks that fit a
 * process the first one has it. */
static bool add_service_rule(struct context *context, const oconfig_item_t *item, size_t offset,
			     const char *text, covers_fn *covers)
{
	struct service_config *service = context->service, *s = context->config->services;
	const char *cover;

	if (strings_have(rule_list_at(service, offset), text))
		return false;
	for (; s < service; s++) {
		cover = find_covering_rule(s, offset, text, covers);
		if (cover)
			return mistake(
				context, item,
				"%s \"%s\" of <Service \"%s\">, which comes first, covers it",
				item->key, cover, s->name);
	}
	cover = find_covering_rule(service, offset, text, covers);
	if (cover)
		return mistake(context, item, "%s \"%s\" of this block covers it", item->key,
			       cover);
	note_covered_rules(context, item, offset, text, covers);
	return block_add_string(context, item, rule_list_at(service, offset), text);
}

static bool parse_service_command(struct context *context, const oconfig_item_t *item)
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
	if (strpbrk(text, "*?["))
		line_note(context, item,
			  "it is compared as it is written, without wildcards; ProcessMatch "
			  "takes a regular expression");
	snprintf(command, sizeof(command), "%s", text);
	if (strlen(text) > COMMAND_MAX)
		line_note(context, item,
			  "its first %d bytes are compared, as the kernel keeps no more of a "
			  "command name",
			  COMMAND_MAX);
	return add_service_rule(context, item, offsetof(struct service_config, commands), command,
				is_same_rule);
}

static bool parse_service_match(struct context *context, const oconfig_item_t *item)
{
	struct service_config *service = context->service;
	const char *text = option_string(item);
	char why[256] = "it takes one regular expression";
	struct regex regex, *added;

	if (!text || !regex_init(&regex, text, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (!add_service_rule(context, item, offsetof(struct service_config, match_texts), text,
			      is_same_rule)) {
		regex_done(&regex);
		return false;
	}
	added = block_append(&service->matches, &service->match_count, sizeof(*added));
	if (!added) {
		regex_done(&regex);
		return mistake(context, item, "out of memory");
	}
	*added = regex;
	return true;
}

static bool parse_service_cgroup(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char why[256] = "it takes the path of a cgroup below the cgroup2 root";
	char *path = text ? strdup(text) : NULL;
	bool added;

	if (path && cgroup_path(text, MOUNTS_FILE, path, why, sizeof(why)))
		added = add_service_rule(context, item, offsetof(struct service_config, cgroups),
					 path, is_cgroup_above);
	else
		added = mistake(context, item, "%s", text && !path ? "out of memory" : why);
	free(path);
	return added;
}

static bool parse_service_unit(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char why[256] = "it takes the name of a unit, such as \"nginx.service\"";

	if (!text || !unit_is_usable(text, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	return add_service_rule(context, item, offsetof(struct service_config, units), text,
				unit_covers);
}

/* No wildcard stands for the colon that a user's container has. */
static bool container_covers(const char *rule, const char *later)
{
	return is_same_rule(rule, later) || (!strchr(rule, ':') == !strchr(later, ':') &&
					     !glob_has_wildcard(later) && glob_match(rule, later));
}

static bool parse_service_container(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || strchr(text, '/'))
		return mistake(
			context, item,
			"it takes the name or the id of a container, such as \"web\"; of one "
			"in a pod \"NAMESPACE_POD_CONTAINER\", of one that a user runs "
			"\"user-NAME:CONTAINER\"");
	if (!glob_is_whole(text))
		return mistake(context, item, GLOB_NOT_WHOLE);
	return add_service_rule(context, item, offsetof(struct service_config, containers), text,
				container_covers);
}

static bool parse_service_pid_file(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || text[0] != '/')
		return mistake(context, item, "it takes one absolute path");
	return add_service_rule(context, item, offsetof(struct service_config, pid_files), text,
				is_same_rule);
}

static bool parse_service_per_process(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->service->per_process) || wants_boolean(context, item);
}

static bool parse_service_top_n(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, TOP_N_MAX, &context->service->top_n) ||
	       wants_whole(context, item, 1, TOP_N_MAX);
}

/* Adds the name of a class, if it is new, and the class of unreadable responses. */
static bool add_response_class(struct context *context, const oconfig_item_t *item,
			       const char *name)
{
	struct strings *classes = &context->config->classes;

	if (classes->count == 0 && !block_add_string(context, item, classes, RESPONSE_UNKNOWN))
		return false;
	return block_add_new(context, item, classes, name);
}

static const struct response_rule *find_covering_response(const struct response_rules *rules,
							  const struct response_rule *rule)
{
	for (size_t i = 0; i < rules->count; i++)
		if (response_rule_covers(&rules->rule[i], rule))
			return &rules->rule[i];
	return NULL;
}

static bool has_response_rule(const struct response_rules *rules, const struct response_rule *rule)
{
	for (size_t i = 0; i < rules->count; i++)
		if (!memcmp(&rules->rule[i], rule, sizeof(*rule)))
			return true;
	return false;
}

static bool parse_service_response(struct context *context, const oconfig_item_t *item)
{
	struct response_rules *rules = &context->service->responses;
	const char *class_name = option_string_at(item, 0, 2), *text = option_string_at(item, 1, 2);
	char why[256] = "it takes the name of a class, and what its responses begin with, such as "
			"\"5xx\" \"HTTP/1.? 5\"";
	const struct response_rule *earlier;
	struct response_rule rule;

	if (!class_name || !text || !response_rule_parse(class_name, text, &rule, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (has_response_rule(rules, &rule))
		return false;
	if (rules->count == RESPONSE_RULES_MAX)
		return mistake(context, item, "a service has %d such lines at most",
			       RESPONSE_RULES_MAX);
	earlier = find_covering_response(rules, &rule);
	if (earlier)
		return mistake(context, item, "an earlier line, of class \"%s\", covers it",
			       earlier->class_name);
	if (!add_response_class(context, item, class_name))
		return false;
	if (response_rule_lost_backslash(text))
		line_note(context, item,
			  "x and two digits stand for themselves here; for the byte with this "
			  "number write two backslashes before them, as collectd takes one away");
	rules->rule[rules->count++] = rule;
	return true;
}

const struct option service_options[] = {
	{ "Process", parse_service_command, NEEDED },
	{ "ProcessMatch", parse_service_match, NEEDED },
	{ "Unit", parse_service_unit, NEEDED },
	{ "Container", parse_service_container, NEEDED },
	{ "Cgroup", parse_service_cgroup, NEEDED },
	{ "PidFile", parse_service_pid_file, NEEDED },
	{ "PerProcess", parse_service_per_process, ONCE },
	{ "TopN", parse_service_top_n, ONCE },
	{ "Response", parse_service_response, OFTEN },
	{ .name = NULL },
};

static bool is_service_empty(const struct service_config *service)
{
	return service->commands.count + service->match_count + service->cgroups.count +
		       service->units.count + service->containers.count +
		       service->pid_files.count ==
	       0;
}

/* The service of this name, which is created if needed; NULL after a message. */
static struct service_config *get_service(struct context *parent, const oconfig_item_t *block,
					  const char *name)
{
	struct config *config = parent->config;
	struct service_config *service;

	for (size_t i = 0; i < config->service_count; i++) {
		service = &config->services[i];
		if (!strcmp(service->name, name))
			return service;
	}
	if (config->service_count == CONFIG_SERVICES_MAX) {
		parent->excess_services++;
		return NULL;
	}
	service = block_append(&config->services, &config->service_count, sizeof(*service));
	if (service) {
		strcpy(service->name, name);
		service->top_n = TOP_N;
		return service;
	}
	block_mistake(parent, block, "out of memory");
	return NULL;
}

bool service_block_parse(struct context *parent, const oconfig_item_t *block)
{
	const char *name = block_name(parent, block);
	struct service_config *service = name ? get_service(parent, block, name) : NULL;
	struct context context;

	if (!service)
		return false;
	context = block_inside(parent, "Service", name, &service->once);
	context.service = service;
	if (!block_parse(&context, block, service_options))
		service->is_partial = true;
	return true;
}

/* --- after all blocks --- */

static void check_service_top_n(const struct service_config *service, struct mistakes *mistakes)
{
	const char *line = block_line(&service->once, "TopN");
	char name[CONFIG_NAME_MAX + 64];

	if (!line || service->per_process)
		return;
	snprintf(name, sizeof(name), "%s in <Service \"%s\">", line, service->name);
	mistake_ignore(mistakes, name, "it requires PerProcess true");
}

static bool check_service_empty(struct config *config, size_t at, struct mistakes *mistakes)
{
	struct service_config *service = &config->services[at];
	char name[CONFIG_NAME_MAX + 16];

	if (!is_service_empty(service))
		return true;
	snprintf(name, sizeof(name), "<Service \"%s\">", service->name);
	if (!service->is_partial)
		mistake_ignore(mistakes, name,
			       "no process would be in it, as it has no Unit, Container, "
			       "Process, ProcessMatch, Cgroup or PidFile");
	service_config_done(service);
	memmove(service, service + 1, (--config->service_count - at) * sizeof(*service));
	return false;
}

/* A regex that fits all of these command lines, which have nothing in common, fits every one. */
static bool fits_everything(const struct regex *regex)
{
	static const char *const lines[] = { "a", "/usr/sbin/x -y", "0", "~z=Z", "[k]: _" };
	bool fits = true;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		fits = fits && regex_match(regex, lines[i]);
	return fits;
}

static const char *find_matching_all(const struct service_config *service)
{
	for (size_t i = 0; i < service->match_count; i++)
		if (fits_everything(&service->matches[i]))
			return service->match_texts.item[i];
	return NULL;
}

/* Notes blocks after one that fits everything. */
static void check_shadowed_services(const struct config *config, struct mistakes *mistakes)
{
	const struct service_config *all = NULL;
	const char *text = NULL;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct service_config *s = &config->services[i];
		char name[CONFIG_NAME_MAX + 16];

		snprintf(name, sizeof(name), "<Service \"%s\">", s->name);
		if (all)
			mistake_note(
				mistakes, name,
				"hardly any process will be in it, as ProcessMatch \"%s\" of "
				"<Service \"%s\">, which comes first, fits every command line; "
				"write that block last",
				text, all->name);
		else if ((text = find_matching_all(s)))
			all = s;
	}
}

static bool probe_reads_payload(const struct probe_config *probe)
{
	for (size_t i = 0; i < probe->parameter_count; i++)
		if (!strcmp(probe->parameters[i].name, "payload"))
			return probe->parameters[i].value.magnitude;
	return true;
}

/* Classes need the bytes that the Parameter "payload" forbids to read. */
static void check_responses_readable(struct config *config, const struct probe_config *probe,
				     struct mistakes *mistakes)
{
	char name[CONFIG_NAME_MAX + 32];

	if (probe_reads_payload(probe))
		return;
	for (size_t i = 0; i < config->service_count; i++) {
		struct service_config *service = &config->services[i];

		if (!service->responses.count)
			continue;
		service->responses.count = 0;
		snprintf(name, sizeof(name), "Response in <Service \"%s\">", service->name);
		mistake_ignore(mistakes, name,
			       "Parameter \"payload\" false in <Probe \"%s\"> forbids reading "
			       "responses; remove one of the two",
			       probe->name);
	}
}

void service_blocks_finish(struct config *config, struct mistakes *mistakes)
{
	for (size_t i = 0; i < config->service_count;) {
		if (check_service_empty(config, i, mistakes))
			check_service_top_n(&config->services[i++], mistakes);
	}
	check_shadowed_services(config, mistakes);
	for (size_t i = 0; i < config->probe_count; i++)
		check_responses_readable(config, &config->probes[i], mistakes);
}
