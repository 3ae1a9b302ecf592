/* SPDX-License-Identifier: MIT */
/*
 * <Function "NAME"> in a Probe block: functions that are counted under one name, and what is measured of their
 * calls.
 */
#include "function_block.h"

#include "name.h"
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELED_NAME_MAX 31 /* bytes; the label has the other half of the type instance */
#define ARGUMENTS_MAX 16
#define RETURN_WORD "return"

/* --- types --- */

static const struct {
	const char *word;
	struct function_type type;
} function_types[] = {
	{ "u8", { .size = 1 } },
	{ "u16", { .size = 2 } },
	{ "u32", { .size = 4 } },
	{ "u64", { .size = 8 } },
	{ "s8", { .size = 1, .is_signed = true } },
	{ "s16", { .size = 2, .is_signed = true } },
	{ "s32", { .size = 4, .is_signed = true } },
	{ "s64", { .size = 8, .is_signed = true } },
	{ "string", { .size = 8, .is_string = true } },
	{ "kstring", { .size = 8, .is_string = true, .is_kernel = true } },
};

static bool parse_function_type(const char *word, struct function_type *ret_type)
{
	for (size_t i = 0; i < sizeof(function_types) / sizeof(*function_types); i++)
		if (!strcmp(function_types[i].word, word)) {
			*ret_type = function_types[i].type;
			return true;
		}
	return false;
}

/* The string at i of a line, or NULL. */
static const char *option_text_at(const oconfig_item_t *item, int i)
{
	return i < item->values_num ? option_string_at(item, i, item->values_num) : NULL;
}

/* --- lines --- */

static bool is_function_hook(const struct hook *hook)
{
	return hook->kind == HOOK_UPROBE || hook->kind == HOOK_USDT || hook->kind == HOOK_KPROBE ||
	       hook->kind == HOOK_FENTRY;
}

static size_t count_function_attaches(const struct probe_config *probe)
{
	size_t count = 0;

	for (size_t i = 0; i < probe->function_count; i++)
		count += probe->functions[i].attach_count;
	return count;
}

static bool has_function_attach(const struct function_config *function, const char *text)
{
	for (size_t i = 0; i < function->attach_count; i++)
		if (!strcmp(function->attaches[i].text, text))
			return true;
	return false;
}

/* Appends an attach line; false: no memory, and the hook stays the caller's. */
static bool add_function_attach(struct function_config *function, const char *text,
				const struct hook *hook)
{
	struct attach_config attach = { .text = strdup(text), .hook = *hook }, *added = NULL;

	if (attach.text)
		added = block_append(&function->attaches, &function->attach_count, sizeof(*added));
	if (added)
		*added = attach;
	else
		free(attach.text);
	return added;
}

static bool parse_function_attach(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	struct hook hook;
	char why[256] = "it takes one function, such as \"uprobe:PATH:FUNCTION\"";

	if (text && has_function_attach(context->function, text))
		return false;
	if (count_function_attaches(context->probe) == CONFIG_FUNCTION_ATTACHES_MAX)
		return mistake(context, item,
			       "all Function blocks together have at most %d of them",
			       CONFIG_FUNCTION_ATTACHES_MAX);
	if (!text || !hook_parse(text, &hook, why, sizeof(why)))
		return mistake(context, item, "%s", why);
	if (is_function_hook(&hook) && add_function_attach(context->function, text, &hook))
		return true;
	if (is_function_hook(&hook))
		mistake(context, item, "out of memory");
	else
		mistake(context, item,
			"a function is named by uprobe:, usdt:, kprobe: or fentry:; the return from "
			"it comes with Latency and Errors");
	hook_done(&hook);
	return false;
}

static bool parse_function_latency(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->function->latency) || wants_boolean(context, item);
}

static bool parse_function_returns(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);

	if (!text || (strcmp(text, "replace") && strcmp(text, "instructions")))
		return mistake(context, item, "it takes \"instructions\" or \"replace\"");
	context->function->replaces = !strcmp(text, "replace");
	return true;
}

static bool parse_function_service(struct context *context, const oconfig_item_t *item)
{
	for (int i = 0; i < item->values_num; i++)
		if (!option_text_at(item, i))
			return mistake(context, item,
				       "it takes names of Service blocks, in quotes");
	if (!item->values_num)
		return mistake(context, item, "it takes names of Service blocks, in quotes");
	for (int i = 0; i < item->values_num; i++)
		if (!block_add_new(context, item, &context->function->services,
				   option_text_at(item, i)))
			return false;
	return true;
}

static bool parse_comparison(const char *text, enum function_comparison *ret_comparison)
{
	static const char *const texts[] = {
		[FUNCTION_LESS] = "<",    [FUNCTION_LESS_OR_EQUAL] = "<=",
		[FUNCTION_GREATER] = ">", [FUNCTION_GREATER_OR_EQUAL] = ">=",
		[FUNCTION_EQUAL] = "==",  [FUNCTION_NOT_EQUAL] = "!=",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(texts[i], text)) {
			*ret_comparison = (enum function_comparison)i;
			return true;
		}
	return false;
}

static bool parse_whole_number(const oconfig_value_t *value, struct number *ret_number)
{
	const char *end;

	if (value->type == OCONFIG_TYPE_NUMBER)
		return number_of_double(value->value.number, ret_number);
	return value->type == OCONFIG_TYPE_STRING &&
	       number_parse(value->value.string, ret_number, &end) && !*end;
}

static bool is_number_of_type(struct number number, const struct function_type *type)
{
	return !type->is_string &&
	       number_compare(number, number_least(type->size, type->is_signed)) >= 0 &&
	       number_compare(number, number_greatest(type->size, type->is_signed)) <= 0;
}

static bool parse_function_errors(struct context *context, const oconfig_item_t *item)
{
	struct function_config *function = context->function;
	struct function_type type = { .size = 4, .is_signed = true };
	const char *comparison = option_text_at(item, 0), *word = option_text_at(item, 2);
	enum function_comparison parsed;
	struct number number;

	if (item->values_num < 2 || item->values_num > 3 || !comparison ||
	    !parse_comparison(comparison, &parsed) ||
	    !parse_whole_number(&item->values[1], &number))
		return mistake(context, item,
			       "it takes a comparison (\"<\", \"<=\", \">\", \">=\", \"==\" or "
			       "\"!=\"), a whole number, and perhaps the type of what is returned, "
			       "such as \"<\" 0 \"s64\"");
	if (item->values_num == 3 && (!word || !parse_function_type(word, &type) || type.is_string))
		return mistake(context, item,
			       "the type is u8, u16, u32, u64, s8, s16, s32 or s64, in quotes");
	if (!is_number_of_type(number, &type))
		return mistake(context, item,
			       "its type, %s, cannot hold this number; name a larger one",
			       word ?: "s32");
	function->has_errors = true;
	function->comparison = parsed;
	function->error_type = type;
	function->error_value = (int64_t)(number.negative ? -number.magnitude : number.magnitude);
	return true;
}

/* A number, "return", or a name. */
static bool parse_argument_name(const oconfig_value_t *value, struct argument_config *argument)
{
	const char *text = value->value.string;

	if (value->type == OCONFIG_TYPE_NUMBER) {
		for (unsigned n = 1; n <= ARGUMENTS_MAX; n++)
			if (value->value.number == (double)n)
				argument->number = n;
		return argument->number;
	}
	if (value->type != OCONFIG_TYPE_STRING || !*text ||
	    strlen(text) >= sizeof(argument->name) || strpbrk(text, " \t\"'"))
		return false;
	argument->is_returned = !strcmp(text, RETURN_WORD);
	if (!argument->is_returned)
		strcpy(argument->name, text);
	return true;
}

static enum function_flag parse_argument_use(const char *word)
{
	if (word && !strcmp(word, "sum"))
		return FUNCTION_SUM;
	if (word && !strcmp(word, "histogram"))
		return FUNCTION_HISTOGRAM;
	return word && !strcmp(word, "label") ? FUNCTION_LABEL : 0;
}

static bool parse_function_argument(struct context *context, const oconfig_item_t *item)
{
	const char *word = option_text_at(item, 2);
	struct argument_config argument = { .use = parse_argument_use(option_text_at(item, 1)) };

	if (item->values_num < 2 || item->values_num > 3 || !argument.use ||
	    !parse_argument_name(&item->values[0], &argument))
		return mistake(context, item,
			       "it takes the number of an argument (from 1 to %d), its name or "
			       "\"" RETURN_WORD
			       "\", then \"sum\", \"histogram\" or \"label\", and perhaps a "
			       "type, such as 2 \"sum\" \"u32\"",
			       ARGUMENTS_MAX);
	if (item->values_num == 3 && (!word || !parse_function_type(word, &argument.type)))
		return mistake(context, item,
			       "the type is u8, u16, u32, u64, s8, s16, s32, s64, string or "
			       "kstring, in quotes");
	if (argument.type.is_string && argument.use != FUNCTION_LABEL)
		return mistake(context, item, "only \"label\" takes a string");
	if (argument.is_returned && argument.use == FUNCTION_LABEL)
		return mistake(context, item,
			       "what is returned is for \"sum\" and \"histogram\", as a call is "
			       "counted when it begins");
	context->function->argument = argument;
	return true;
}

static bool parse_function_max_overhead(struct context *context, const oconfig_item_t *item)
{
	return option_number(item, 0.01, 100, &context->function->max_overhead) ||
	       wants_percent(context, item, "all CPUs");
}

const struct option function_options[] = {
	{ "Argument", parse_function_argument, ONCE },
	{ "Attach", parse_function_attach, NEEDED },
	{ "Errors", parse_function_errors, ONCE },
	{ "Latency", parse_function_latency, ONCE },
	{ "MaxOverhead", parse_function_max_overhead, ONCE },
	{ "Returns", parse_function_returns, ONCE },
	{ "Service", parse_function_service, OFTEN },
	{ NULL, NULL, ONCE },
};

/* --- the block --- */

/* The other function of this probe that has the name for a receiver; NULL: there is none. */
static const struct function_config *find_alike_function(const struct probe_config *probe,
							 const struct function_config *of)
{
	for (size_t i = 0; i < probe->function_count; i++)
		if (&probe->functions[i] != of && name_is_same(probe->functions[i].name, of->name))
			return &probe->functions[i];
	return NULL;
}

/* A hyphen separates parts of the names of series. */
static void attempt_function_name(struct function_config *function, unsigned attempt)
{
	name_attempt(function->name, sizeof(function->name), function->text, attempt);
	for (char *at = function->name; *at; at++)
		if (*at == '-')
			*at = '_';
}

static void name_function_block(struct context *parent, const oconfig_item_t *block,
				struct function_config *function)
{
	const struct function_config *alike;
	unsigned attempt = 0;

	attempt_function_name(function, attempt);
	alike = find_alike_function(parent->probe, function);
	while (find_alike_function(parent->probe, function))
		attempt_function_name(function, ++attempt);
	if (alike)
		block_note(
			parent, block,
			"its series are called \"%s\", as <Function \"%s\"> has its name already",
			function->name, alike->text);
}

/* The function of this name, which is created if needed; NULL after a message. */
static struct function_config *get_function(struct context *parent, const oconfig_item_t *block,
					    const char *name)
{
	struct probe_config *probe = parent->probe;
	struct function_config *function;

	for (size_t i = 0; i < probe->function_count; i++)
		if (!strcmp(probe->functions[i].text, name))
			return &probe->functions[i];
	if (probe->function_count == FUNCTIONS_MAX) {
		block_mistake(parent, block, "a Probe block has at most %d of them", FUNCTIONS_MAX);
		return NULL;
	}
	function = block_append(&probe->functions, &probe->function_count, sizeof(*function));
	if (!function) {
		block_mistake(parent, block, "out of memory");
		return NULL;
	}
	strcpy(function->text, name);
	name_function_block(parent, block, function);
	return function;
}

bool function_block_parse(struct context *parent, const oconfig_item_t *block)
{
	const char *name = block_name(parent, block);
	struct function_config *function = name ? get_function(parent, block, name) : NULL;
	struct context context;

	if (!function)
		return false;
	context = block_inside(parent, "Function", name, &function->once);
	context.probe = parent->probe;
	context.function = function;
	if (!block_parse(&context, block, function_options))
		function->is_partial = true;
	return true;
}

/* --- after all blocks --- */

static bool needs_return(const struct function_config *function)
{
	return function->latency || function->has_errors || function->argument.is_returned;
}

/* Do all hooks have their arguments in one form: in registers; at the locations that a marker lists (usdt:); or in an
 * array (fentry:)? */
static bool has_uniform_arguments(const struct function_config *function)
{
	enum hook_kind first = function->attaches[0].hook.kind;
	bool alike = true;

	for (size_t i = 1; i < function->attach_count; i++) {
		enum hook_kind kind = function->attaches[i].hook.kind;

		alike = alike && (kind == first || (first != HOOK_USDT && kind != HOOK_USDT &&
						    first != HOOK_FENTRY && kind != HOOK_FENTRY));
	}
	return alike;
}

/* What is wrong with the whole block, or NULL. */
static const char *find_function_mistake(const struct function_config *function)
{
	if (!function->attach_count)
		return "it has no Attach, so there is nothing to count";
	if (function->argument.use == FUNCTION_LABEL && strlen(function->name) > LABELED_NAME_MAX)
		return "with a label its name has at most 31 bytes";
	if (function->argument.use && !has_uniform_arguments(function))
		return "usdt:, fentry: and others have arguments in different places; give them "
		       "blocks of their own";
	for (size_t i = 0; i < function->attach_count && needs_return(function); i++) {
		const struct hook *hook = &function->attaches[i].hook;

		if (hook->kind == HOOK_USDT)
			return "a marker (usdt:) has no return, which Latency, Errors and the "
			       "argument \"return\" need; give it a block of its own";
		if (hook->name && hook->offset)
			return "FUNCTION+OFFSET is not the start of a function, which Latency, "
			       "Errors and the argument \"return\" need";
	}
	return NULL;
}

void function_blocks_finish(struct probe_config *probe, struct mistakes *mistakes)
{
	for (size_t i = 0; i < probe->function_count;) {
		struct function_config *function = &probe->functions[i];
		const char *wrong = find_function_mistake(function);
		char name[CONFIG_NAME_MAX + 16];

		if (!wrong) {
			i++;
			continue;
		}
		snprintf(name, sizeof(name), "<Function \"%s\">", function->text);
		if (function->attach_count || !function->is_partial)
			mistake_ignore(mistakes, name, "%s", wrong);
		probe->function_ignored = true;
		function_config_done(function);
		memmove(function, function + 1, (--probe->function_count - i) * sizeof(*function));
	}
}
