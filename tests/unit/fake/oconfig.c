/* SPDX-License-Identifier: MIT */
/*
 * Configuration trees as collectd's own parser makes them, which no library exports. Accepts any
 * bytes: the fuzzers use it.
 */
#include "oconfig.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8

static void *grown(void *array, int count, size_t size)
{
	array = reallocarray(array, (size_t)count, size);
	if (!array)
		abort();
	return array;
}

static char *copied(const char *text, size_t length)
{
	char *copy = strndup(text, length);

	if (!copy)
		abort();
	return copy;
}

/* A quoted string; a backslash makes the next byte literal. */
static char *quoted(const char **at)
{
	const char *from = *at + 1;
	char *text = copied(from, strcspn(from, "\n"));
	size_t length = 0;

	for (; *from && *from != '\n' && *from != '"'; from++) {
		if (*from == '\\' && from[1] && from[1] != '\n')
			from++;
		text[length++] = *from;
	}
	text[length] = '\0';
	*at = from + (*from == '"');
	return text;
}

static void bare(const char *word, size_t length, oconfig_value_t *value)
{
	char *text = copied(word, length), *end;

	value->type = OCONFIG_TYPE_NUMBER;
	value->value.number = strtod(text, &end);
	if (end != text && *end == '\0' && strchr("+-.0123456789", *text)) {
		free(text);
	} else if (!strcmp(text, "true") || !strcmp(text, "false")) {
		value->type = OCONFIG_TYPE_BOOLEAN;
		value->value.boolean = *text == 't';
		free(text);
	} else {
		value->type = OCONFIG_TYPE_STRING;
		value->value.string = text;
	}
}

/* Reads the values up to the end of the line, or of the tag that opens a block. */
static void read_values(const char **at, oconfig_item_t *item)
{
	for (;;) {
		oconfig_value_t value = { .type = OCONFIG_TYPE_STRING };
		size_t length;

		*at += strspn(*at, " \t");
		length = strcspn(*at, " \t\n>\"");
		if (**at == '"') {
			value.value.string = quoted(at);
		} else if (length) {
			bare(*at, length, &value);
			*at += length;
		} else {
			break;
		}
		item->values = grown(item->values, item->values_num + 1, sizeof(*item->values));
		item->values[item->values_num++] = value;
	}
	*at += strcspn(*at, "\n");
}

/* Reads the children up to the end of the block or of the text. */
static void read_block(const char **at, oconfig_item_t *block, int depth)
{
	while (**at) {
		oconfig_item_t item = { 0 };
		bool opens, closes;
		size_t length;

		*at += strspn(*at, " \t\n");
		opens = **at == '<';
		closes = opens && (*at)[1] == '/';
		*at += opens;
		length = strcspn(*at, " \t\n>\"");
		if (length == 0 || closes) {
			*at += strcspn(*at, "\n");
			if (closes && depth)
				return;
			continue;
		}
		item.key = copied(*at, length);
		*at += length;
		read_values(at, &item);
		if (opens && depth < DEPTH_MAX)
			read_block(at, &item, depth + 1);
		block->children =
			grown(block->children, block->children_num + 1, sizeof(*block->children));
		block->children[block->children_num++] = item;
	}
}

oconfig_item_t *oconfig_read(const char *text)
{
	oconfig_item_t *root = grown(NULL, 1, sizeof(*root));

	*root = (oconfig_item_t){ .key = copied("Plugin", 6) };
	read_block(&text, root, 0);
	return root;
}

static void item_done(oconfig_item_t *item)
{
	for (int i = 0; i < item->values_num; i++)
		if (item->values[i].type == OCONFIG_TYPE_STRING)
			free(item->values[i].value.string);
	for (int i = 0; i < item->children_num; i++)
		item_done(&item->children[i]);
	free(item->values);
	free(item->children);
	free(item->key);
}

void oconfig_free(oconfig_item_t *item)
{
	if (!item)
		return;
	item_done(item);
	free(item);
}
