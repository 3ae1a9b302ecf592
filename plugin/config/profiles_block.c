/* SPDX-License-Identifier: MIT */
/*
 * <Profiles>: where stacks are stored, and how many of them.
 */
#include "profiles_block.h"

#include "name.h"
#include "option.h"

#include <stdio.h>

static bool parse_profiles_directory(struct context *context, const oconfig_item_t *item)
{
	return block_parse_path(context, item, &context->config->profiles.directory);
}

static bool parse_profiles_keep_hours(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_KEEP_HOURS_MAX,
			    &context->config->profiles.keep_hours) ||
	       wants_whole(context, item, 1, CONFIG_KEEP_HOURS_MAX);
}

static bool parse_profiles_keep_mib(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_KEEP_MIB_MAX, &context->config->profiles.keep_mib) ||
	       wants_whole(context, item, 1, CONFIG_KEEP_MIB_MAX);
}

static bool parse_profiles_on_threshold(struct context *context, const oconfig_item_t *item)
{
	struct strings *list = &context->config->profiles.on_threshold;

	for (int i = 0; i < item->values_num; i++)
		if (!option_string_at(item, i, item->values_num))
			return mistake(context, item, "it takes names of probes, in quotes");
	if (!item->values_num || list->count + (size_t)item->values_num > CONFIG_GLOBS_MAX)
		return mistake(context, item, "it takes 1 to %d names of probes", CONFIG_GLOBS_MAX);
	for (int i = 0; i < item->values_num; i++) {
		char name[CONFIG_NAME_MAX];

		name_clean(name, sizeof(name), option_string_at(item, i, item->values_num));
		if (!block_add_new(context, item, list, name))
			return false;
	}
	return true;
}

static bool parse_profiles_seconds(struct context *context, const oconfig_item_t *item)
{
	return option_whole(item, 1, CONFIG_PROFILE_S_MAX, &context->config->profiles.seconds) ||
	       wants_whole(context, item, 1, CONFIG_PROFILE_S_MAX);
}

const struct option profiles_options[] = {
	{ "Directory", parse_profiles_directory, ONCE },
	{ "KeepHours", parse_profiles_keep_hours, ONCE },
	{ "KeepMiB", parse_profiles_keep_mib, ONCE },
	{ "OnThreshold", parse_profiles_on_threshold, OFTEN },
	{ "Seconds", parse_profiles_seconds, ONCE },
	{ NULL, NULL, ONCE },
};

bool profiles_block_parse(struct context *parent, const oconfig_item_t *block)
{
	struct context context = *parent;

	if (block->values_num)
		return block_mistake(parent, block, "it takes no name");
	context.once = &parent->config->profiles.once;
	snprintf(context.block, sizeof(context.block), "<Profiles>");
	block_parse(&context, block, profiles_options);
	return true;
}
