/* SPDX-License-Identifier: MIT */
/*
 * <Table "MAP"> in a Probe block: what the rows of a map mean, for objects without tags. The words of its lines are
 * checked when the object is opened, against its BTF.
 */
#include "table_block.h"

#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- keys --- */

static bool parse_key_size(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_KEY_SIZE_MAX, &context->key->size) ||
	       wants_whole(context, item, 1, CONFIG_KEY_SIZE_MAX);
}

static bool parse_key_offset(struct context *context, const oconfig_item_t *item)
{
	context->key->offset_set =
		option_whole(item, 0, CONFIG_KEY_SIZE_MAX - 1, &context->key->offset);
	return context->key->offset_set || wants_whole(context, item, 0, CONFIG_KEY_SIZE_MAX - 1);
}

static bool parse_key_padding(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 0, CONFIG_KEY_SIZE_MAX, &context->key->padding) ||
	       wants_whole(context, item, 0, CONFIG_KEY_SIZE_MAX);
}

static bool parse_key_subject(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->key->is_subject) || wants_boolean(context, item);
}

/* Numbers may be quoted or not. */
static bool add_line_word(struct context *context, const oconfig_item_t *item, struct strings *list,
			  const oconfig_value_t *value)
{
	char text[32];

	if (value->type == OCONFIG_TYPE_STRING)
		return block_add_string(context, item, list, value->value.string);
	snprintf(text, sizeof(text), "%.17g", value->value.number);
	return block_add_string(context, item, list, text);
}

static bool parse_line_words(struct context *context, const oconfig_item_t *item,
			     struct strings *list, const char *wanted)
{
	bool added_all = true;

	for (int i = 0; i < item->values_num; i++)
		if (item->values[i].type == OCONFIG_TYPE_BOOLEAN)
			return mistake(context, item, "%s", wanted);
	if (item->values_num < 1 || item->values[0].type != OCONFIG_TYPE_STRING)
		return mistake(context, item, "%s", wanted);
	if (item->values_num > CONFIG_WORDS_MAX)
		return mistake(context, item, "a line has at most %d words", CONFIG_WORDS_MAX);
	for (int i = 0; i < item->values_num && added_all; i++)
		added_all = add_line_word(context, item, list, &item->values[i]);
	if (!added_all)
		strings_done(list);
	return added_all;
}

static bool parse_key_decode(struct context *context, const oconfig_item_t *item)
{
	struct key_config *key = context->key;
	struct strings words = { 0 }, *added;

	if (key->decode_count == CONFIG_DECODES_MAX)
		return mistake(context, item, "a key has at most %d of them", CONFIG_DECODES_MAX);
	if (!parse_line_words(
		    context, item, &words,
		    "it takes a word, such as \"string\", and what that needs, in quotes or as "
		    "numbers"))
		return false;
	added = block_append(&key->decodes, &key->decode_count, sizeof(*added));
	if (added) {
		*added = words;
		return true;
	}
	strings_done(&words);
	return mistake(context, item, "out of memory");
}

const struct option key_options[] = {
	{ "Decode", parse_key_decode, OFTEN },  { "Offset", parse_key_offset, ONCE },
	{ "Padding", parse_key_padding, ONCE }, { "Size", parse_key_size, ONCE },
	{ "Subject", parse_key_subject, ONCE }, { NULL, NULL, ONCE },
};

/* The name of a block in a Table block, which may be missing; false after a message. */
static bool parse_member_name(struct context *parent, const oconfig_item_t *block,
			      char name[CONFIG_MEMBER_MAX])
{
	const char *text = option_string(block);

	if (block->values_num && (!text || strlen(text) >= CONFIG_MEMBER_MAX))
		return block_mistake(parent, block, "it takes one name of up to %d bytes",
				     CONFIG_MEMBER_MAX - 1);
	snprintf(name, CONFIG_MEMBER_MAX, "%s", text ?: "");
	return true;
}

static bool parse_table_key(struct context *parent, const oconfig_item_t *block)
{
	struct table_config *table = parent->table;
	char name[CONFIG_MEMBER_MAX];
	struct context context;
	struct key_config *key;

	if (!parse_member_name(parent, block, name))
		return false;
	if (!name[0])
		return block_mistake(parent, block,
				     "it takes a name, that of a member of the key or another");
	if (table->key_count == CONFIG_KEYS_MAX)
		return block_mistake(parent, block, "a table has at most %d of them",
				     CONFIG_KEYS_MAX);
	key = block_append(&table->keys, &table->key_count, sizeof(*key));
	if (!key)
		return block_mistake(parent, block, "out of memory");
	memcpy(key->name, name, sizeof(name));
	context = block_inside(parent, "Key", name, &key->once);
	context.key = key;
	block_parse(&context, block, key_options);
	return true;
}

/* --- values --- */

static bool parse_value_type(struct context *context, const oconfig_item_t *item)
{
	static const char *const types[] = { "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64" };
	const char *text = option_string(item);

	for (size_t i = 0; text && i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(text, types[i])) {
			snprintf(context->value->type, sizeof(context->value->type), "%s", text);
			return true;
		}
	return mistake(context, item,
		       "it takes one of \"u8\", \"u16\", \"u32\", \"u64\", \"s8\", \"s16\", "
		       "\"s32\" and \"s64\"");
}

static bool parse_value_offset(struct context *context, const oconfig_item_t *item)
{
	context->value->offset_set =
		option_whole(item, 0, CONFIG_ROW_SIZE_MAX - 1, &context->value->offset);
	return context->value->offset_set || wants_whole(context, item, 0, CONFIG_ROW_SIZE_MAX - 1);
}

static bool parse_value_count(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_WORDS_MAX, &context->value->count) ||
	       wants_whole(context, item, 1, CONFIG_WORDS_MAX);
}

static bool parse_value_metric(struct context *context, const oconfig_item_t *item)
{
	const char *text = option_string(item);
	char *copy = text ? strdup(text) : NULL;

	if (!text)
		return mistake(context, item,
			       "it takes what METRIC() would: \"TYPE-INSTANCE WORD...\"");
	if (!copy)
		return mistake(context, item, "out of memory");
	free(context->value->metric);
	context->value->metric = copy;
	return true;
}

static bool parse_value_histogram(struct context *context, const oconfig_item_t *item)
{
	strings_done(&context->value->histogram);
	return parse_line_words(
		context, item, &context->value->histogram,
		"it takes \"exp2\", \"exp2zero\" or \"linear\" and the numbers of the "
		"first and the last bucket, or \"fixed\" and their bounds");
}

const struct option value_options[] = {
	{ "Count", parse_value_count, ONCE },   { "Histogram", parse_value_histogram, ONCE },
	{ "Metric", parse_value_metric, ONCE }, { "Offset", parse_value_offset, ONCE },
	{ "Type", parse_value_type, ONCE },     { NULL, NULL, ONCE },
};

static bool parse_table_value(struct context *parent, const oconfig_item_t *block)
{
	struct table_config *table = parent->table;
	char name[CONFIG_MEMBER_MAX];
	struct value_config *value;
	struct context context;

	if (!parse_member_name(parent, block, name))
		return false;
	if (table->value_count == CONFIG_VALUES_MAX)
		return block_mistake(parent, block, "a table has at most %d of them",
				     CONFIG_VALUES_MAX);
	value = block_append(&table->values, &table->value_count, sizeof(*value));
	if (!value)
		return block_mistake(parent, block, "out of memory");
	memcpy(value->name, name, sizeof(name));
	context = block_inside(parent, "Value", name, &value->once);
	context.value = value;
	block_parse(&context, block, value_options);
	return true;
}

/* --- tables --- */

static bool parse_table_each_cpu(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->table->each_cpu) || wants_boolean(context, item);
}

static bool parse_table_entries(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_ENTRIES_MAX, &context->table->entries) ||
	       wants_whole(context, item, 1, CONFIG_ENTRIES_MAX);
}

const struct option table_options[] = {
	{ "EachCpu", parse_table_each_cpu, ONCE },
	{ "Entries", parse_table_entries, ONCE },
	{ "Key", parse_table_key, BLOCK },
	{ "Value", parse_table_value, BLOCK },
	{ NULL, NULL, ONCE },
};

/* The table of this map, which is created if needed; NULL after a message. */
static struct table_config *get_table(struct context *parent, const oconfig_item_t *block,
				      const char *map)
{
	struct probe_config *probe = parent->probe;
	struct table_config *table = NULL;
	char *copy;

	for (size_t i = 0; i < probe->table_count; i++)
		if (!strcmp(probe->tables[i].map, map))
			return &probe->tables[i];
	if (probe->table_count == CONFIG_TABLES_MAX) {
		block_mistake(parent, block, "a probe has at most %d of them", CONFIG_TABLES_MAX);
		return NULL;
	}
	copy = strdup(map);
	if (copy)
		table = block_append(&probe->tables, &probe->table_count, sizeof(*table));
	if (table) {
		table->map = copy;
		return table;
	}
	free(copy);
	block_mistake(parent, block, "out of memory");
	return NULL;
}

bool table_block_parse(struct context *parent, const oconfig_item_t *block)
{
	const char *map = option_string(block);
	struct table_config *table;
	struct context context;

	if (!map || strlen(map) >= CONFIG_MEMBER_MAX)
		return block_mistake(parent, block, "it takes the name of a map of the object");
	table = get_table(parent, block, map);
	if (!table)
		return false;
	context = block_inside(parent, "Table", map, &table->once);
	context.probe = parent->probe;
	context.table = table;
	block_parse(&context, block, table_options);
	return true;
}
