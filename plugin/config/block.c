/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the configuration. An option is an entry of a table: its name, and the function that parses its values.
 * A mistake costs one message, with the offending text, and only that option (or block); an option without an effect
 * is treated the same.
 */
#include "block.h"

#include "name.h"
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *quotes_hint(const oconfig_value_t *value)
{
	return value->type == OCONFIG_TYPE_STRING ? ", without quotes" : "";
}

static const char *item_quotes_hint(const oconfig_item_t *item)
{
	return item->values_num == 1 ? quotes_hint(item->values) : "";
}

bool wants_boolean(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes true or false%s", item_quotes_hint(item));
}

bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low, unsigned high)
{
	return mistake(context, item, "it takes a whole number from %u to %u%s", low, high,
		       item_quotes_hint(item));
}

bool wants_seconds(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes a number of seconds from 0.1 to 86400%s",
		       item_quotes_hint(item));
}

bool wants_percent(struct context *context, const oconfig_item_t *item, const char *of)
{
	return mistake(context, item, "it takes a number from 0.01 to 100, percent of %s%s", of,
		       item_quotes_hint(item));
}

void *block_append(void *array, size_t *count, size_t size)
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

bool block_add_string(struct context *context, const oconfig_item_t *item, struct strings *list,
		      const char *text)
{
	char *copy = strdup(text);
	char **added = copy ? block_append(&list->item, &list->count, sizeof(*added)) : NULL;

	if (!added) {
		free(copy);
		return mistake(context, item, "out of memory");
	}
	*added = copy;
	return true;
}

bool block_add_new(struct context *context, const oconfig_item_t *item, struct strings *list,
		   const char *text)
{
	return strings_have(list, text) || block_add_string(context, item, list, text);
}

bool block_add_all(struct context *context, const oconfig_item_t *item, int first,
		   struct strings *list, size_t most, const char *of)
{
	size_t before = list->count;

	for (int i = first; i < item->values_num && list->count <= most; i++)
		if (!block_add_new(context, item, list, item->values[i].value.string))
			return false;
	if (list->count <= most)
		return true;
	strings_cut(list, before);
	return mistake(context, item, "%s has at most %zu such names", of, most);
}

bool block_parse_path(struct context *context, const oconfig_item_t *item, char **path)
{
	const char *text = option_string(item);
	char *copy;

	if (!text || text[0] != '/')
		return mistake(context, item, "it takes one absolute path");
	copy = strdup(text);
	if (!copy)
		return mistake(context, item, "out of memory");
	free(*path);
	*path = copy;
	return true;
}

#define OPTIONS_MAX 32 /* of a block */

static const struct option *find_option(const struct option *options, const char *name)
{
	while (options->name && strcasecmp(options->name, name) != 0)
		options++;
	return options->name ? options : NULL;
}

/* Where an option of this name belongs. `alike`: it must be a block if the item is one, a line if not. NULL:
 * nowhere. */
static const char *find_where(const struct block_kind *kinds, const oconfig_item_t *item,
			      bool alike)
{
	for (; kinds->options; kinds++) {
		const struct option *option = find_option(kinds->options, item->key);

		if (option && (!alike || (option->kind == BLOCK) == (item->children_num > 0)))
			return kinds->where;
	}
	return NULL;
}

/* Reports an unknown option, with a guess at what was meant. */
static void report_unknown(struct context *context, const oconfig_item_t *item,
			   const struct option *options)
{
	const char *names[OPTIONS_MAX + 1] = { NULL }, *near;
	const char *where =
		find_where(context->kinds, item, true) ?: find_where(context->kinds, item, false);

	for (size_t i = 0; options[i].name && i < OPTIONS_MAX; i++)
		names[i] = options[i].name;
	near = mistake_near(item->key, names);
	if (where)
		mistake(context, item, "it belongs %s", where);
	else if (near)
		mistake(context, item, "unknown option; is %s meant?", near);
	else
		mistake(context, item, "unknown option, see collectd-ebpf(5)");
}

static char **find_once_line(const struct strings *once, const char *option)
{
	size_t length = strlen(option);

	for (size_t i = 0; i < once->count; i++)
		if (!strncmp(once->item[i], option, length) && once->item[i][length] == ' ')
			return &once->item[i];
	return NULL;
}

const char *block_line(const struct strings *once, const char *option)
{
	char **line = find_once_line(once, option);

	return line ? *line : NULL;
}

#define LINE_SIZE_MAX 4608 /* enough for a path */

void block_remember(struct context *context, const oconfig_item_t *item, const char *key)
{
	char **earlier = find_once_line(context->once, key);
	char values[LINE_SIZE_MAX], line[LINE_SIZE_MAX + 32], *copy;

	option_text(item, values, sizeof(values));
	snprintf(line, sizeof(line), "%.*s%s", (int)strcspn(key, " "), key, values);
	if (!earlier) {
		block_add_string(context, item, context->once, line);
		return;
	}
	if (!strcmp(*earlier, line))
		return;
	line_note(context, item, "an earlier line has %.200s; the last one counts", *earlier);
	copy = strdup(line);
	if (!copy)
		return;
	free(*earlier);
	*earlier = copy;
}

/* false: the line is ignored, which was reported. */
static bool parse_option_line(struct context *context, const oconfig_item_t *item,
			      const struct option *option)
{
	unsigned ignored = context->mistakes->ignored;

	if (option->kind != BLOCK && item->children_num)
		mistake(context, item, "this option takes a value, not a block");
	else if (option->parse(context, item) && option->kind == ONCE)
		block_remember(context, item, option->name);
	return context->mistakes->ignored == ignored;
}

bool block_parse(struct context *context, const oconfig_item_t *block, const struct option *options)
{
	bool whole = true;

	for (int i = 0; i < block->children_num; i++) {
		const oconfig_item_t *item = &block->children[i];
		const struct option *option = find_option(options, item->key);

		if (!option)
			report_unknown(context, item, options);
		if (!option ||
		    (!parse_option_line(context, item, option) && option->kind == NEEDED))
			whole = false;
	}
	return whole;
}

const char *block_name(struct context *context, const oconfig_item_t *block)
{
	const char *name = option_string(block);
	char cleaned[CONFIG_NAME_MAX];

	name_clean(cleaned, sizeof(cleaned), name ?: "");
	if (!name || strlen(name) >= CONFIG_NAME_MAX || strchr(name, '/'))
		block_mistake(context, block,
			      "it takes one name in quotes, of up to %d bytes, without a slash",
			      CONFIG_NAME_MAX - 1);
	else if (name_is_reserved(cleaned))
		block_mistake(context, block, "this name is reserved, choose another");
	else
		return name;
	return NULL;
}

struct context block_inside(const struct context *parent, const char *kind, const char *name,
			    struct strings *once)
{
	struct context context = {
		.config = parent->config,
		.kinds = parent->kinds,
		.mistakes = parent->mistakes,
		.once = once,
	};

	snprintf(context.block, sizeof(context.block), "<%s \"%s\">", kind, name);
	return context;
}
