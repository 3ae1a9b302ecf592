/* SPDX-License-Identifier: MIT */
/*
 * A block of the configuration. An option is a row of a table: its name, and the
 * function that takes its values. Whatever is wrong costs one message with
 * the offending text and that option (or block) alone; so does what can have no
 * effect.
 */
#include "block.h"

#include "name.h"
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Operators put numbers and booleans in quotes, as other programs want them. */
static const char *unquoted(const oconfig_item_t *item)
{
	return option_string(item) ? ", without quotes" : "";
}

bool wants_boolean(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes true or false%s", unquoted(item));
}

bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low, unsigned high)
{
	return mistake(context, item, "it takes a whole number from %u to %u%s", low, high,
		       unquoted(item));
}

bool wants_seconds(struct context *context, const oconfig_item_t *item)
{
	return mistake(context, item, "it takes a number of seconds from 0.1 to 86400%s",
		       unquoted(item));
}

bool wants_percent(struct context *context, const oconfig_item_t *item, const char *of)
{
	return mistake(context, item, "it takes a number from 0.01 to 100, percent of %s%s", of,
		       unquoted(item));
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
		return mistake(context, item, "there is no memory for it");
	}
	*added = copy;
	return true;
}

bool block_take_path(struct context *context, const oconfig_item_t *item, char **path)
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

#define OPTIONS_MAX 32 /* of a block */

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
	const char *names[OPTIONS_MAX + 1] = { NULL }, *near;

	for (const struct block_kind *kind = context->kinds; kind->options; kind++)
		if (option_named(kind->options, item->key)) {
			mistake(context, item, "it belongs %s", kind->where);
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

void block_take(struct context *context, const oconfig_item_t *block, const struct option *options)
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

const char *block_name(struct context *context, const oconfig_item_t *block,
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

struct context block_inside(const struct context *parent, const char *kind, const char *name)
{
	struct context context = {
		.config = parent->config,
		.kinds = parent->kinds,
		.mistakes = parent->mistakes,
	};

	snprintf(context.block, sizeof(context.block), "<%s \"%s\">", kind, name);
	return context;
}
