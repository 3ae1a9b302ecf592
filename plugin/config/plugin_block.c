/* SPDX-License-Identifier: MIT */
/*
 * <Plugin ebpf>: options for all services and probes, and their blocks.
 */
#include "block.h"
#include "function_block.h"
#include "option.h"
#include "probe_block.h"
#include "profiles_block.h"
#include "service_block.h"
#include "table_block.h"
#include "util/message.h"

#include "bpf/lib/services/service.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_plugin_symbol_helper(struct context *context, const oconfig_item_t *item)
{
	return block_parse_path(context, item, &context->config->symbol_helper);
}

static bool parse_plugin_object_dir(struct context *context, const oconfig_item_t *item)
{
	return block_parse_path(context, item, &context->config->object_dir);
}

static bool parse_plugin_event_file(struct context *context, const oconfig_item_t *item)
{
	bool is_empty = item->values_num == 1 && item->values[0].type == OCONFIG_TYPE_STRING &&
			!item->values[0].value.string[0];

	if (!is_empty)
		return block_parse_path(context, item, &context->config->event_file);
	free(context->config->event_file);
	context->config->event_file = strdup("");
	return true;
}

static bool parse_plugin_container_state(struct context *context, const oconfig_item_t *item)
{
	const char *path = option_string(item);

	if (!path || path[0] != '/')
		return mistake(context, item, "it takes one absolute path");
	return block_add_all(context, item, 0, &context->config->container_states,
			     CONFIG_CONTAINER_STATES_MAX, "<Plugin ebpf>");
}

static bool parse_plugin_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->config->interval_s) ||
	       wants_seconds(context, item);
}

static bool parse_plugin_max_services(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_MAX_SERVICES, &context->config->max_services) ||
	       wants_whole(context, item, 1, CONFIG_MAX_SERVICES);
}

static bool parse_plugin_max_new_services(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_MAX_NEW_SERVICES, &context->config->max_new_services) ||
	       wants_whole(context, item, 1, CONFIG_MAX_NEW_SERVICES);
}

static bool parse_plugin_max_memory(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_MAX_MEMORY_MIB, &context->config->max_memory_mib) ||
	       wants_whole(context, item, 1, CONFIG_MAX_MEMORY_MIB);
}

static bool parse_plugin_max_sampling(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->config->max_sampling) ||
	       wants_percent(context, item, "one CPU");
}

static bool parse_plugin_max_overhead(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->config->max_overhead) ||
	       wants_percent(context, item, "all CPUs");
}

/* The bit of a word, 0: unknown. */
static unsigned parse_service_source(const oconfig_value_t *value)
{
	static const struct {
		const char *word;
		enum service_source source;
	} words[] = {
		{ "containers", SERVICES_FROM_CONTAINERS },
		{ "units", SERVICES_FROM_UNITS },
		{ "commands", SERVICES_FROM_COMMANDS },
	};

	for (size_t i = 0; value->type == OCONFIG_TYPE_STRING && i < sizeof(words) / sizeof(*words);
	     i++)
		if (!strcasecmp(value->value.string, words[i].word))
			return words[i].source;
	return 0;
}

static bool is_word_none(const oconfig_item_t *item)
{
	return item->values_num == 1 && item->values[0].type == OCONFIG_TYPE_STRING &&
	       !strcasecmp(item->values[0].value.string, "none");
}

static bool parse_plugin_services_from(struct context *context, const oconfig_item_t *item)
{
	bool fits = item->values_num > 0;
	unsigned from = 0;

	for (int i = 0; i < item->values_num && fits && !is_word_none(item); i++) {
		unsigned source = parse_service_source(&item->values[i]);

		if (from & SERVICES_FROM_COMMANDS)
			return mistake(context, item,
				       "nothing can follow \"commands\", as every process has a "
				       "command name");
		fits = source && !(from & source);
		from |= source;
	}
	if (!fits)
		return mistake(context, item,
			       "it takes \"containers\", \"units\" and \"commands\", or some of "
			       "them, each once, or only \"none\"");
	context->config->services_from = from;
	return true;
}

/* DISK_NAME_WORDS: unknown. */
static enum disk_name_word parse_disk_name_word(const oconfig_value_t *value)
{
	static const char *const words[DISK_NAME_WORDS] = {
		[DISK_NAME_DM] = "dm",
		[DISK_NAME_MD] = "md",
		[DISK_NAME_BY_ID] = "by-id",
		[DISK_NAME_KERNEL] = "kernel",
	};
	size_t i = 0;

	if (value->type != OCONFIG_TYPE_STRING)
		return DISK_NAME_WORDS;
	while (i < DISK_NAME_WORDS && strcasecmp(value->value.string, words[i]) != 0)
		i++;
	return (enum disk_name_word)i;
}

static bool has_disk_name_word(const struct disk_names *names, enum disk_name_word word)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->word[i] == word)
			return true;
	return false;
}

static bool parse_plugin_disk_name(struct context *context, const oconfig_item_t *item)
{
	struct disk_names names = { .count = 0 };
	bool fits = item->values_num > 0;

	for (int i = 0; i < item->values_num && fits; i++) {
		enum disk_name_word word = parse_disk_name_word(&item->values[i]);

		fits = word != DISK_NAME_WORDS && !has_disk_name_word(&names, word);
		if (fits)
			names.word[names.count++] = word;
	}
	if (!fits)
		return mistake(context, item,
			       "it takes \"dm\", \"md\", \"by-id\" and \"kernel\", or some of "
			       "them, each once");
	if (has_disk_name_word(&names, DISK_NAME_KERNEL) &&
	    names.word[names.count - 1] != DISK_NAME_KERNEL)
		line_note(context, item,
			  "every device has a kernel name, so words after \"kernel\" have no "
			  "effect; put \"kernel\" last");
	context->config->disk_names = names;
	return true;
}

static bool parse_plugin_buckets(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->config->buckets) || wants_boolean(context, item);
}

/* Would their series have the same name? */
static bool is_same_percentile(double a, double b)
{
	char left[32], right[32];

	snprintf(left, sizeof(left), "%g", a);
	snprintf(right, sizeof(right), "%g", b);
	return !strcmp(left, right);
}

/* Percentiles given as fractions are a likely mistake. */
static void note_fractions(struct context *context, const oconfig_item_t *item)
{
	double greatest = 0;

	for (int i = 0; i < item->values_num; i++)
		greatest = fmax(greatest, item->values[i].value.number);
	if (greatest < 1)
		line_note(context, item,
			  "it takes percent, and nothing here is above 1; is %g meant?",
			  100 * greatest);
}

static bool parse_plugin_percentile(struct context *context, const oconfig_item_t *item)
{
	struct config *config = context->config;

	if (item->values_num < 1 || item->values_num > CONFIG_PERCENTILES_MAX)
		return mistake(context, item, "it takes 1 to %d numbers", CONFIG_PERCENTILES_MAX);
	for (int i = 0; i < item->values_num; i++) {
		const oconfig_value_t *v = &item->values[i];

		if (v->type != OCONFIG_TYPE_NUMBER ||
		    !(v->value.number > 0 && v->value.number < 100))
			return mistake(context, item, "it takes numbers above 0 and below 100%s",
				       quotes_hint(v));
		for (int j = 0; j < i; j++)
			if (is_same_percentile(item->values[j].value.number, v->value.number))
				return mistake(context, item, "it has a percentile twice");
	}
	for (int i = 0; i < item->values_num; i++)
		config->percentiles[i] = item->values[i].value.number;
	config->percentile_count = (size_t)item->values_num;
	note_fractions(context, item);
	return true;
}

static const struct option plugin_options[] = {
	{ "ObjectDirectory", parse_plugin_object_dir, ONCE },
	{ "ContainerState", parse_plugin_container_state, OFTEN },
	{ "Interval", parse_plugin_interval, ONCE },
	{ "MaxServices", parse_plugin_max_services, ONCE },
	{ "MaxNewServices", parse_plugin_max_new_services, ONCE },
	{ "MaxMemory", parse_plugin_max_memory, ONCE },
	{ "MaxSampling", parse_plugin_max_sampling, ONCE },
	{ "MaxOverhead", parse_plugin_max_overhead, ONCE },
	{ "ServicesFrom", parse_plugin_services_from, ONCE },
	{ "DiskName", parse_plugin_disk_name, ONCE },
	{ "Percentile", parse_plugin_percentile, ONCE },
	{ "Buckets", parse_plugin_buckets, ONCE },
	{ "SymbolHelper", parse_plugin_symbol_helper, ONCE },
	{ "EventFile", parse_plugin_event_file, ONCE },
	{ "Service", service_block_parse, BLOCK },
	{ "Probe", probe_block_parse, BLOCK },
	{ "Profiles", profiles_block_parse, BLOCK },
	{ NULL, NULL, ONCE },
};

static const struct block_kind block_kinds[] = {
	{ service_options, "in a Service block" },
	{ probe_options, "in a Probe block" },
	{ function_options, "in a Function block" },
	{ plugin_options, "in <Plugin ebpf> itself" },
	{ table_options, "in a Table block" },
	{ key_options, "in a Key block" },
	{ value_options, "in a Value block" },
	{ profiles_options, "in the Profiles block" },
	{ NULL, NULL },
};

static void log_excess(unsigned excess, unsigned most, const char *kind, const char *last)
{
	if (excess)
		message(LOG_ERR,
			"ignoring %u %s block%s after <%s \"%s\">: %u is the most there can be",
			excess, kind, excess > 1 ? "s" : "", kind, last, most);
}

unsigned config_read(struct config *config, const struct oconfig_item_s *block)
{
	struct mistakes mistakes = { 0 };
	struct context context = {
		.config = config,
		.block = "<Plugin ebpf>",
		.kinds = block_kinds,
		.once = &config->once,
		.mistakes = &mistakes,
	};

	block_parse(&context, block, plugin_options);
	mistakes_end(&mistakes);
	if (context.excess_services)
		log_excess(context.excess_services, CONFIG_SERVICES_MAX, "Service",
			   config->services[config->service_count - 1].name);
	if (context.excess_probes)
		log_excess(context.excess_probes, CONFIG_PROBES_MAX, "Probe",
			   config->probes[config->probe_count - 1].name);
	return mistakes.ignored + context.excess_services + context.excess_probes;
}

/* If ServicesFrom is "none" all processes without a Service block count in "other", so there is nothing to limit. */
static void check_service_limit(const struct config *config, struct mistakes *mistakes,
				const char *option)
{
	const char *line = block_line(&config->once, option);
	char name[128];

	if (!line || config->services_from || config_needs_groups(config))
		return;
	snprintf(name, sizeof(name), "%s in <Plugin ebpf>", line);
	mistake_ignore(mistakes, name,
		       "ServicesFrom is \"none\", so no other service has a row; without "
		       "that line containers, units and command names have rows");
}

unsigned config_finish(struct config *config)
{
	struct mistakes mistakes = { 0 };

	service_blocks_finish(config, &mistakes);
	for (size_t i = 0; i < config->probe_count; i++)
		function_blocks_finish(&config->probes[i], &mistakes);
	check_service_limit(config, &mistakes, "MaxServices");
	check_service_limit(config, &mistakes, "MaxNewServices");
	mistakes_end(&mistakes);
	return mistakes.ignored;
}
