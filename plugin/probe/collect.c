/* SPDX-License-Identifier: MIT */
/*
 * Collect and Ignore of a Probe block: what they fit among the metrics of the object. Collect lines that fit
 * nothing leave what is collected by default.
 */
#include "collect.h"

#include "config/mistake.h"
#include "daemon/dispatch.h"
#include "object/annotation.h"
#include "object/variant.h"
#include "schema/series.h"
#include "table/table.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 64 /* of metrics, in a message */

/* --- what there is --- */

typedef void metric_taker(void *to, const struct schema *schema, const struct metric *metric,
			  const char *option);

struct searched {
	const struct object *object;
	const struct probe_config *block;
	const struct config *config;
};

/* Gives the metrics of a map. One with a mistake in its tags is told when its table is opened. */
static void each_of_map(const struct searched *s, struct bpf_map *map, metric_taker *take, void *to)
{
	static char any[] = "*";
	static char *anything[] = { any };
	static const struct strings all = { anything, 1 };
	const struct selection everything = {
		.config = s->config, .collect = &all, .options = &s->block->options, .chooses = true
	};
	const char *option = annotation_of_map(s->object->bpf, map, "option:", 0);
	struct error ignored;
	struct table table;

	if (table_open(&table, map, bpf_object__btf(s->object->bpf),
		       config_table(s->block, bpf_map__name(map)), dispatch_type, &everything,
		       &ignored) <= 0)
		return;
	if (variant_has_map(s->object, map, &s->block->options))
		option = NULL;
	for (size_t i = 0; i < table.schema.metric_count; i++)
		take(to, &table.schema, &table.schema.metrics[i], option);
	table_done(&table);
}

/* Gives all metrics, with the option that they need and do not have, or NULL. */
static void each(const struct searched *s, metric_taker *take, void *to)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, s->object->bpf) each_of_map(s, map, take, to);
}

/* --- a pattern --- */

struct wanted {
	const char *pattern;
	const struct config *config;
	const char *option; /* that would make it fit, NULL: none */
	bool fits;
};

static void look(void *to, const struct schema *schema, const struct metric *metric,
		 const char *option)
{
	struct wanted *wanted = to;

	if (!selection_fits(wanted->pattern, schema, metric, wanted->config))
		return;
	if (option)
		wanted->option = option;
	else
		wanted->fits = true;
}

struct names {
	char name[NAMES_MAX][SERIES_NAME_MAX];
	size_t count;
};

static void add_name(void *to, const struct schema *schema, const struct metric *metric,
		     const char *option)
{
	struct names *names = to;
	size_t i = 0;

	if (option || names->count == NAMES_MAX)
		return;
	selection_name(names->name[names->count], schema, metric);
	while (strcmp(names->name[i], names->name[names->count]) != 0)
		i++;
	names->count += i == names->count;
}

/* "a", "b" and so on, as much as there is room for. */
static void list(const struct names *names, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < names->count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\"%.127s\"",
					   i ? ", " : "", names->name[i]);
}

static const char *nearest(const char *pattern, const struct names *names)
{
	const char *words[NAMES_MAX + 1] = { NULL };

	for (size_t i = 0; i < names->count; i++)
		words[i] = names->name[i];
	return mistake_near(pattern, words);
}

static void tell(const struct searched *s, const char *probe, const char *option,
		 const struct wanted *wanted)
{
	struct names names = { .count = 0 };
	char text[640], near[SERIES_NAME_MAX + 32] = "";
	const char *meant;

	if (wanted->option) {
		message(LOG_ERR,
			"probe %s: ignoring %s \"%.127s\": these metrics need Option \"%s\" in its "
			"Probe block",
			probe, option, wanted->pattern, wanted->option);
		return;
	}
	each(s, add_name, &names);
	list(&names, text, sizeof(text));
	meant = nearest(wanted->pattern, &names);
	if (meant)
		snprintf(near, sizeof(near), "is \"%s\" meant? ", meant);
	message(LOG_ERR, "probe %s: ignoring %s \"%.127s\": it has no such metric; %sit has %s",
		probe, option, wanted->pattern, near, names.count ? text : "none");
}

/* Tells what fits nothing; does anything fit? */
static bool check(const struct searched *s, const char *probe, const char *option,
		  const struct strings *patterns)
{
	bool any = false;

	for (size_t i = 0; i < patterns->count; i++) {
		struct wanted wanted = { .pattern = patterns->item[i], .config = s->config };

		wanted.fits =
			!strcmp(option, "Collect") && !strcmp(wanted.pattern, SELECTION_DEFAULT);
		each(s, look, &wanted);
		any |= wanted.fits;
		if (!wanted.fits)
			tell(s, probe, option, &wanted);
	}
	return any;
}

static void count(void *to, __attribute__((unused)) const struct schema *schema,
		  __attribute__((unused)) const struct metric *metric, const char *option)
{
	*(size_t *)to += !option;
}

bool collect_has_metrics(const struct object *object, const struct probe_config *block,
			 const struct config *config)
{
	const struct searched searched = { object, block, config };
	size_t metrics = 0;

	each(&searched, count, &metrics);
	return metrics > 0;
}

void collect_read(struct selection *ret_selection, const struct object *object, const char *probe,
		  const struct probe_config *block, const struct config *config)
{
	const struct searched searched = { object, block, config };

	*ret_selection = (struct selection){
		.config = config,
		.collect = &block->collect,
		.ignore = &block->ignore,
		.options = &block->options,
		.chooses = check(&searched, probe, "Collect", &block->collect),
	};
	check(&searched, probe, "Ignore", &block->ignore);
}
