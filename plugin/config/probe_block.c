/* SPDX-License-Identifier: MIT */
/*
 * <Probe "NAME">: whether and how a probe is loaded.
 */
#include "probe_block.h"

#include "name.h"
#include "option.h"

static bool take_enable(struct context *context, const oconfig_item_t *item)
{
	return option_boolean(item, &context->probe->enable) || wants_boolean(context, item);
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
	return block_add_string(context, item, &context->probe->options, text);
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
	{ "Enable", take_enable, ONCE },
	{ "Interval", take_probe_interval, ONCE },
	{ "Object", take_object, ONCE },
	{ "Option", take_option, OFTEN },
	{ "Rows", take_rows, ONCE },
	{ "Tier", take_tier, ONCE },
	{ NULL, NULL, ONCE },
};

static bool has_probe(const struct config *config, const char *name)
{
	return config_probe(config, name) != NULL;
}

bool probe_block_take(struct context *parent, const oconfig_item_t *block)
{
	struct config *config = parent->config;
	struct probe_config *probe;
	struct context context;
	const char *name;

	if (config->probe_count == CONFIG_PROBES_MAX) {
		parent->excess_probes++;
		return false;
	}
	name = block_name(parent, block, has_probe);
	if (!name)
		return false;
	probe = block_append(&config->probes, &config->probe_count, sizeof(*probe));
	if (!probe)
		return block_mistake(parent, block, "there is no memory for it");
	name_clean(probe->name, sizeof(probe->name), name);
	probe->enable = true;
	context = block_inside(parent, "Probe", name);
	context.probe = probe;
	block_take(&context, block, probe_options);
	return true;
}
