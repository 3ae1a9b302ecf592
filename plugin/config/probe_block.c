/* SPDX-License-Identifier: MIT */
/*
 * <Probe "NAME">: whether and how a probe is loaded.
 */
#include "probe_block.h"

#include "function_block.h"
#include "name.h"
#include "option.h"
#include "table_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_budget(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->probe->budget_percent) ||
	       wants_percent(context, item, "one CPU");
}

static bool take_probe_max_overhead(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->probe->max_overhead) ||
	       wants_percent(context, item, "all CPUs");
}

static bool take_frequency(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 1, CONFIG_FREQUENCY_MAX, &context->probe->frequency_hz) ||
	       mistake(context, item, "it takes a number from 1 to %d, in Hz",
		       CONFIG_FREQUENCY_MAX);
}

static bool take_enable(struct context *context, const oconfig_item_t *item)
{
	context->probe->enable_set = option_boolean(item, &context->probe->enable);
	return context->probe->enable_set || wants_boolean(context, item);
}

static bool take_probe_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->probe->interval_s) ||
	       wants_seconds(context, item);
}

static bool take_object(struct context *context, const oconfig_item_t *item)
{
	return block_take_path(context, item, &context->probe->object);
}

static bool take_option(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text)
		return mistake(context, item, "it takes one string that is not empty");
	return block_add_new(context, item, &context->probe->options, text);
}

/* All of a line or none. */
static bool take_patterns(struct context *context, const oconfig_item_t *item, struct strings *list)
{
	bool is_list = item->values_num > 0;

	for (int i = 0; i < item->values_num; i++)
		is_list &= item->values[i].type == OCONFIG_TYPE_STRING &&
			   item->values[i].value.string[0];
	if (!is_list)
		return mistake(
			context, item,
			"it takes names of metrics, in quotes, in which * stands for any text");
	if (list->count + (size_t)item->values_num > CONFIG_PATTERNS_MAX)
		return mistake(context, item, "a block has at most %d such names",
			       CONFIG_PATTERNS_MAX);
	for (int i = 0; i < item->values_num; i++)
		if (!block_add_new(context, item, list, item->values[i].value.string))
			return false;
	return true;
}

static bool take_collect(struct context *context, const oconfig_item_t *item)
{
	return take_patterns(context, item, &context->probe->collect);
}

static bool take_ignore(struct context *context, const oconfig_item_t *item)
{
	return take_patterns(context, item, &context->probe->ignore);
}

/* That of this name, a new one if there is none; NULL after a message. */
static struct parameter_config *parameter_named(struct context *context, const oconfig_item_t *item,
						const char *name)
{
	struct probe_config *probe = context->probe;
	struct parameter_config *parameter;
	char *copy;

	for (size_t i = 0; i < probe->parameter_count; i++)
		if (!strcmp(probe->parameters[i].name, name))
			return &probe->parameters[i];
	if (probe->parameter_count == CONFIG_PARAMETERS_MAX) {
		mistake(context, item, "a block has at most %d of them", CONFIG_PARAMETERS_MAX);
		return NULL;
	}
	copy = strdup(name);
	parameter =
		copy ? block_append(&probe->parameters, &probe->parameter_count, sizeof(*parameter))
		     : NULL;
	if (parameter) {
		parameter->name = copy;
		return parameter;
	}
	free(copy);
	mistake(context, item, "there is no memory for it");
	return NULL;
}

/* That of this word, a new one if there is none; NULL after a message. */
static struct label_config *label_named(struct context *context, const oconfig_item_t *item,
					const char *word)
{
	struct probe_config *probe = context->probe;
	struct label_config *label;
	char *copy;

	for (size_t i = 0; i < probe->label_count; i++)
		if (!strcmp(probe->labels[i].word, word))
			return &probe->labels[i];
	if (probe->label_count == CONFIG_LABELS_MAX) {
		mistake(context, item, "a block has at most %d labels", CONFIG_LABELS_MAX);
		return NULL;
	}
	copy = strdup(word);
	label = copy ? block_append(&probe->labels, &probe->label_count, sizeof(*label)) : NULL;
	if (label) {
		label->word = copy;
		return label;
	}
	free(copy);
	mistake(context, item, "there is no memory for it");
	return NULL;
}

static bool are_strings(const oconfig_item_t *item)
{
	for (int i = 0; i < item->values_num; i++)
		if (item->values[i].type != OCONFIG_TYPE_STRING || !item->values[i].value.string[0])
			return false;
	return true;
}

/* All of a line or none. */
static bool take_label(struct context *context, const oconfig_item_t *item)
{
	struct label_config *label;
	bool taken = true;

	if (item->values_num < 2 || !are_strings(item))
		return mistake(context, item,
			       "it takes a label, as \"syscall\", and names in quotes, in which * "
			       "stands for any text");
	label = label_named(context, item, item->values[0].value.string);
	if (!label)
		return false;
	if (label->patterns.count + (size_t)item->values_num - 1 > CONFIG_LABEL_NAMES_MAX)
		return mistake(context, item, "a label has at most %d names",
			       CONFIG_LABEL_NAMES_MAX);
	for (int i = 1; i < item->values_num && taken; i++)
		taken = block_add_new(context, item, &label->patterns,
				      item->values[i].value.string);
	return taken;
}

/* A number that a double cannot hold stands in quotes. */
static bool take_value(const oconfig_value_t *value, struct parameter_config *ret_parameter)
{
	const char *end;

	ret_parameter->is_boolean = value->type == OCONFIG_TYPE_BOOLEAN;
	if (value->type == OCONFIG_TYPE_BOOLEAN)
		ret_parameter->value = (struct number){ .magnitude = value->value.boolean != 0 };
	else if (value->type == OCONFIG_TYPE_NUMBER)
		return number_of_double(value->value.number, &ret_parameter->value);
	else
		return number_parse(value->value.string, &ret_parameter->value, &end) && !*end;
	return true;
}

static bool take_parameter(struct context *context, const oconfig_item_t *item)
{
	struct parameter_config *parameter, taken = { 0 };
	char key[CONFIG_MEMBER_MAX + 16];

	if (item->values_num != 2 || item->values[0].type != OCONFIG_TYPE_STRING ||
	    !item->values[0].value.string[0])
		return mistake(context, item, "it takes a name, and a whole number, true or false");
	if (!take_value(&item->values[1], &taken))
		return mistake(context, item,
			       "behind the name it takes true, false or a whole number, one above "
			       "2^53 in quotes, up to \"18446744073709551615\"");
	parameter = parameter_named(context, item, item->values[0].value.string);
	if (!parameter)
		return false;
	snprintf(key, sizeof(key), "Parameter \"%s\"", parameter->name);
	block_remember(context, item, key);
	taken.name = parameter->name;
	*parameter = taken;
	return true;
}

static bool has_attach(const struct probe_config *probe, const char *text, const char *program)
{
	for (size_t i = 0; i < probe->attach_count; i++)
		if (!strcmp(probe->attaches[i].text, text) &&
		    !strcmp(probe->attaches[i].program ?: "", program ?: ""))
			return true;
	return false;
}

/* One more; false: no memory, and the point is the caller's. */
static bool add_attach(struct probe_config *probe, const char *text, const char *program,
		       const struct point *point)
{
	struct attach_config attach = { .text = strdup(text), .point = *point }, *added = NULL;

	if (program)
		attach.program = strdup(program);
	if (attach.text && (attach.program || !program))
		added = block_append(&probe->attaches, &probe->attach_count, sizeof(*added));
	if (!added) {
		free(attach.text);
		free(attach.program);
		return false;
	}
	*added = attach;
	return true;
}

static bool take_attach(struct context *context, const oconfig_item_t *item)
{
	const oconfig_value_t *values = item->values;
	const char *program = NULL;
	struct point point;
	char why[256];

	for (int i = 0; i < item->values_num; i++)
		if (item->values_num > 2 || values[i].type != OCONFIG_TYPE_STRING ||
		    !values[i].value.string[0])
			return mistake(context, item,
				       "it takes what to attach to, and perhaps the name of a "
				       "program of the object");
	if (item->values_num == 0)
		return mistake(context, item, "it takes what to attach to");
	if (item->values_num == 2)
		program = values[1].value.string;
	if (has_attach(context->probe, values[0].value.string, program))
		return false;
	if (context->probe->attach_count == CONFIG_ATTACHES_MAX)
		return mistake(context, item, "a block has at most %d of them",
			       CONFIG_ATTACHES_MAX);
	if (!point_parse(values[0].value.string, &point, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (point.kind == POINT_FENTRY) {
		point_done(&point);
		return mistake(context, item,
			       "fentry: is for Function blocks; an object names its "
			       "function itself: SEC(\"fentry/FUNCTION\")");
	}
	if (add_attach(context->probe, values[0].value.string, program, &point))
		return true;
	point_done(&point);
	return mistake(context, item, "there is no memory for it");
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

const struct option probe_options[] = {
	{ "Attach", take_attach, OFTEN },
	{ "Budget", take_budget, ONCE },
	{ "Collect", take_collect, OFTEN },
	{ "Enable", take_enable, ONCE },
	{ "Frequency", take_frequency, ONCE },
	{ "Function", function_block_take, BLOCK },
	{ "Ignore", take_ignore, OFTEN },
	{ "Interval", take_probe_interval, ONCE },
	{ "Label", take_label, OFTEN },
	{ "MaxOverhead", take_probe_max_overhead, ONCE },
	{ "Object", take_object, ONCE },
	{ "Option", take_option, OFTEN },
	{ "Parameter", take_parameter, OFTEN },
	{ "Rows", take_rows, ONCE },
	{ "Table", table_block_take, BLOCK },
	{ "Tier", take_tier, ONCE },
	{ NULL, NULL, ONCE },
};

/* That of this name, a new one if there is none; NULL after a message. */
static struct probe_config *probe_named(struct context *parent, const oconfig_item_t *block,
					const char *name)
{
	struct config *config = parent->config;
	struct probe_config *probe;

	for (size_t i = 0; i < config->probe_count; i++)
		if (config_same_name(config->probes[i].name, name))
			return &config->probes[i];
	if (config->probe_count == CONFIG_PROBES_MAX) {
		parent->excess_probes++;
		return NULL;
	}
	probe = block_append(&config->probes, &config->probe_count, sizeof(*probe));
	if (probe) {
		name_clean(probe->name, sizeof(probe->name), name);
		probe->enable = true;
		return probe;
	}
	block_mistake(parent, block, "there is no memory for it");
	return NULL;
}

bool probe_block_take(struct context *parent, const oconfig_item_t *block)
{
	const char *name = block_name(parent, block);
	struct probe_config *probe = name ? probe_named(parent, block, name) : NULL;
	struct context context;

	if (!probe)
		return false;
	context = block_inside(parent, "Probe", name, &probe->once);
	context.probe = probe;
	block_take(&context, block, probe_options);
	return true;
}
