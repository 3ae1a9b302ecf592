/* SPDX-License-Identifier: MIT */
/*
 * <Probe "NAME">: whether a probe is loaded, and with which options.
 */
#include "probe_block.h"

#include "function_block.h"
#include "name.h"
#include "option.h"
#include "table_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_probe_budget(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->probe->budget_percent) ||
	       wants_percent(context, item, "one CPU");
}

static bool parse_probe_max_overhead(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->probe->max_overhead) ||
	       wants_percent(context, item, "all CPUs");
}

static bool parse_probe_frequency(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 1, CONFIG_FREQUENCY_MAX, &context->probe->frequency_hz) ||
	       mistake(context, item, "it takes a number from 1 to %d, in Hz",
		       CONFIG_FREQUENCY_MAX);
}

static bool parse_probe_enable(struct context *context, const oconfig_item_t *item)
{
	context->probe->enable_set = option_boolean(item, &context->probe->enable);
	return context->probe->enable_set || wants_boolean(context, item);
}

static bool parse_probe_interval(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.1, 86400, &context->probe->interval_s) ||
	       wants_seconds(context, item);
}

static bool parse_probe_object(struct context *context, const oconfig_item_t *item)
{
	return block_parse_path(context, item, &context->probe->object);
}

static bool parse_probe_option(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text)
		return mistake(context, item, "it takes one string that is not empty");
	return block_add_new(context, item, &context->probe->options, text);
}

static bool add_metric_globs(struct context *context, const oconfig_item_t *item,
			     struct strings *list)
{
	bool is_list = item->values_num > 0;

	for (int i = 0; i < item->values_num; i++)
		is_list &= item->values[i].type == OCONFIG_TYPE_STRING &&
			   item->values[i].value.string[0];
	if (!is_list)
		return mistake(
			context, item,
			"it takes names of metrics, in quotes, in which * stands for any text");
	return block_add_all(context, item, 0, list, CONFIG_GLOBS_MAX, "a block");
}

static bool parse_probe_collect(struct context *context, const oconfig_item_t *item)
{
	return add_metric_globs(context, item, &context->probe->collect);
}

static bool parse_probe_ignore(struct context *context, const oconfig_item_t *item)
{
	return add_metric_globs(context, item, &context->probe->ignore);
}

/* The parameter of this name, which is created if needed; NULL after a message. */
static struct parameter_config *get_parameter(struct context *context, const oconfig_item_t *item,
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
	mistake(context, item, "out of memory");
	return NULL;
}

/* The label of this word, which is created if needed; NULL after a message. */
static struct label_config *get_label(struct context *context, const oconfig_item_t *item,
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
	mistake(context, item, "out of memory");
	return NULL;
}

static bool are_all_strings(const oconfig_item_t *item)
{
	for (int i = 0; i < item->values_num; i++)
		if (item->values[i].type != OCONFIG_TYPE_STRING || !item->values[i].value.string[0])
			return false;
	return true;
}

static bool parse_probe_label(struct context *context, const oconfig_item_t *item)
{
	struct label_config *label;

	if (item->values_num < 2 || !are_all_strings(item))
		return mistake(
			context, item,
			"it takes a label, such as \"syscall\", and names in quotes, in which * "
			"stands for any text");
	label = get_label(context, item, item->values[0].value.string);
	if (!label)
		return false;
	if (block_add_all(context, item, 1, &label->globs, CONFIG_LABEL_NAMES_MAX, "a label"))
		return true;
	/* No row would match a label without names. */
	if (!label->globs.count) {
		strings_done(&label->globs);
		free(label->word);
		context->probe->label_count--;
	}
	return false;
}

/* A number that a double cannot represent is quoted. */
static bool parse_parameter_value(const oconfig_value_t *value,
				  struct parameter_config *ret_parameter)
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

static bool parse_probe_parameter(struct context *context, const oconfig_item_t *item)
{
	struct parameter_config *parameter, parsed = { 0 };
	char key[CONFIG_MEMBER_MAX + 16];

	if (item->values_num != 2 || item->values[0].type != OCONFIG_TYPE_STRING ||
	    !item->values[0].value.string[0])
		return mistake(context, item, "it takes a name, and a whole number, true or false");
	if (!parse_parameter_value(&item->values[1], &parsed))
		return mistake(context, item,
			       "after the name it takes true, false or a whole number, one above "
			       "2^53 in quotes, up to \"18446744073709551615\"");
	parameter = get_parameter(context, item, item->values[0].value.string);
	if (!parameter)
		return false;
	snprintf(key, sizeof(key), "Parameter \"%s\"", parameter->name);
	block_remember(context, item, key);
	parsed.name = parameter->name;
	*parameter = parsed;
	return true;
}

static bool has_probe_attach(const struct probe_config *probe, const char *text,
			     const char *program)
{
	for (size_t i = 0; i < probe->attach_count; i++)
		if (!strcmp(probe->attaches[i].text, text) &&
		    !strcmp(probe->attaches[i].program ?: "", program ?: ""))
			return true;
	return false;
}

/* Appends an attach line; false: no memory, and the hook stays the caller's. */
static bool add_probe_attach(struct probe_config *probe, const char *text, const char *program,
			     const struct hook *hook)
{
	struct attach_config attach = { .text = strdup(text), .hook = *hook }, *added = NULL;

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

static bool parse_probe_attach(struct context *context, const oconfig_item_t *item)
{
	const oconfig_value_t *values = item->values;
	const char *program = NULL;
	struct hook hook;
	char why[256];

	for (int i = 0; i < item->values_num; i++)
		if (item->values_num > 2 || values[i].type != OCONFIG_TYPE_STRING ||
		    !values[i].value.string[0])
			return mistake(context, item,
				       "it takes what to attach to, and optionally the name of a "
				       "program of the object");
	if (item->values_num == 0)
		return mistake(context, item, "it takes what to attach to");
	if (item->values_num == 2)
		program = values[1].value.string;
	if (has_probe_attach(context->probe, values[0].value.string, program))
		return false;
	if (context->probe->attach_count == CONFIG_ATTACHES_MAX)
		return mistake(context, item, "a block has at most %d of them",
			       CONFIG_ATTACHES_MAX);
	if (!hook_parse(values[0].value.string, &hook, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (hook.kind == HOOK_FENTRY) {
		hook_done(&hook);
		return mistake(context, item,
			       "fentry: is for Function blocks; an object names its "
			       "function itself: SEC(\"fentry/FUNCTION\")");
	}
	if (add_probe_attach(context->probe, values[0].value.string, program, &hook))
		return true;
	hook_done(&hook);
	return mistake(context, item, "out of memory");
}

static bool parse_probe_rows(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 2, CONFIG_ROWS_MAX, &context->probe->rows) ||
	       wants_whole(context, item, 2, CONFIG_ROWS_MAX);
}

static bool parse_probe_hook_set(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_HOOK_SETS_MAX, &context->probe->hook_set) ||
	       wants_whole(context, item, 1, CONFIG_HOOK_SETS_MAX);
}

const struct option probe_options[] = {
	{ "Attach", parse_probe_attach, OFTEN },
	{ "Budget", parse_probe_budget, ONCE },
	{ "Collect", parse_probe_collect, OFTEN },
	{ "Enable", parse_probe_enable, ONCE },
	{ "Frequency", parse_probe_frequency, ONCE },
	{ "Function", function_block_parse, BLOCK },
	{ "Ignore", parse_probe_ignore, OFTEN },
	{ "Interval", parse_probe_interval, ONCE },
	{ "Label", parse_probe_label, OFTEN },
	{ "MaxOverhead", parse_probe_max_overhead, ONCE },
	{ "Object", parse_probe_object, ONCE },
	{ "Option", parse_probe_option, OFTEN },
	{ "Parameter", parse_probe_parameter, OFTEN },
	{ "Rows", parse_probe_rows, ONCE },
	{ "Table", table_block_parse, BLOCK },
	{ "HookSet", parse_probe_hook_set, ONCE },
	{ NULL, NULL, ONCE },
};

/* The probe of this name, which is created if needed; NULL after a message. */
static struct probe_config *get_probe(struct context *parent, const oconfig_item_t *block,
				      const char *name)
{
	struct config *config = parent->config;
	struct probe_config *probe;

	for (size_t i = 0; i < config->probe_count; i++)
		if (!strcmp(config->probes[i].name, name))
			return &config->probes[i];
	if (config->probe_count == CONFIG_PROBES_MAX) {
		parent->excess_probes++;
		return NULL;
	}
	probe = block_append(&config->probes, &config->probe_count, sizeof(*probe));
	if (probe) {
		strcpy(probe->name, name);
		probe->enable = true;
		return probe;
	}
	block_mistake(parent, block, "out of memory");
	return NULL;
}

bool probe_block_parse(struct context *parent, const oconfig_item_t *block)
{
	const char *name = block_name(parent, block);
	struct probe_config *probe = name ? get_probe(parent, block, name) : NULL;
	struct context context;

	if (!probe)
		return false;
	context = block_inside(parent, "Probe", name, &probe->once);
	context.probe = probe;
	block_parse(&context, block, probe_options);
	return true;
}
