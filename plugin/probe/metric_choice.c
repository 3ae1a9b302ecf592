/* SPDX-License-Identifier: MIT */
/*
 * The options Collect and Ignore of a Probe block, compared with the metrics of the object. If no
 * Collect line matches a metric, the defaults are collected.
 */
#include "metric_choice.h"

#include "config/mistake.h"
#include "object/annotation.h"
#include "object/hook_set_parts.h"
#include "schema/series.h"
#include "table/table.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 64 /* listed in a message */

/* --- metrics of the object --- */

typedef void metric_visitor(void *to, const struct schema *schema, const struct metric *metric,
			    const char *option);

struct metric_search {
	const struct object *object;
	const struct probe_config *block;
	const struct config *config;
	type_lookup *lookup;
};

/* Calls `take` for the metrics of a map. A mistake in its tags is not reported here but when its
 * table is opened. */
static void each_metric_of_map(const struct metric_search *s, struct bpf_map *map,
			       metric_visitor *visit, void *to)
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
		       config_table(s->block, bpf_map__name(map)), s->lookup, &everything,
		       &ignored) <= 0)
		return;
	if (object_map_is_enabled(s->object, map, &s->block->options))
		option = NULL;
	for (size_t i = 0; i < table.schema.metric_count; i++)
		visit(to, &table.schema, &table.schema.metrics[i], option);
	table_done(&table);
}

/* Calls `take` for all metrics. `option` is the Option that a metric needs and the block lacks, or
 * NULL. */
static void each_metric(const struct metric_search *s, metric_visitor *visit, void *to)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, s->object->bpf) each_metric_of_map(s, map, visit, to);
}

/* --- what a glob matches --- */

struct glob_match {
	const char *glob;
	const struct config *config;
	const char *option; /* an Option with which the glob would match; NULL: none */
	bool fits;
};

static void note_metric_match(void *to, const struct schema *schema, const struct metric *metric,
			      const char *option)
{
	struct glob_match *match = to;

	if (!selection_fits(match->glob, schema, metric, match->config))
		return;
	if (option)
		match->option = option;
	else
		match->fits = true;
}

struct metric_names {
	char name[NAMES_MAX][SERIES_NAME_MAX];
	size_t count;
};

static void add_metric_name(void *to, const struct schema *schema, const struct metric *metric,
			    const char *option)
{
	struct metric_names *names = to;
	size_t i = 0;

	if (option || names->count == NAMES_MAX)
		return;
	selection_name(names->name[names->count], schema, metric);
	while (strcmp(names->name[i], names->name[names->count]) != 0)
		i++;
	names->count += i == names->count;
}

/* "a", "b" and so on, as many as fit. */
static void list_metric_names(const struct metric_names *names, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < names->count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\"%.127s\"",
					   i ? ", " : "", names->name[i]);
}

static const char *nearest_metric(const char *glob, const struct metric_names *names)
{
	const char *words[NAMES_MAX + 1] = { NULL };

	for (size_t i = 0; i < names->count; i++)
		words[i] = names->name[i];
	return mistake_near(glob, words);
}

static void log_unmatched(const struct metric_search *s, const char *probe, const char *option,
			  const struct glob_match *match)
{
	struct metric_names names = { .count = 0 };
	char text[640], near[SERIES_NAME_MAX + 32] = "";
	const char *meant;

	if (match->option) {
		message(LOG_ERR,
			"probe %s: ignoring %s \"%.127s\": these metrics need Option \"%s\" in its "
			"Probe block",
			probe, option, match->glob, match->option);
		return;
	}
	each_metric(s, add_metric_name, &names);
	list_metric_names(&names, text, sizeof(text));
	meant = nearest_metric(match->glob, &names);
	if (meant)
		snprintf(near, sizeof(near), "is \"%s\" meant? ", meant);
	message(LOG_ERR, "probe %s: ignoring %s \"%.127s\": unknown metric; %sit has %s", probe,
		option, match->glob, near, names.count ? text : "none");
}

/* Logs the globs that match no metric. Returns whether any matches. */
static bool check_globs(const struct metric_search *s, const char *probe, const char *option,
			const struct strings *globs)
{
	bool any = false;

	for (size_t i = 0; i < globs->count; i++) {
		struct glob_match match = { .glob = globs->item[i], .config = s->config };

		match.fits = !strcmp(option, "Collect") && !strcmp(match.glob, SELECTION_DEFAULT);
		each_metric(s, note_metric_match, &match);
		any |= match.fits;
		if (!match.fits)
			log_unmatched(s, probe, option, &match);
	}
	return any;
}

static void count_metric(void *to, __attribute__((unused)) const struct schema *schema,
			 __attribute__((unused)) const struct metric *metric, const char *option)
{
	*(size_t *)to += !option;
}

bool metric_choice_is_possible(const struct object *object, const struct probe_config *block,
			       const struct config *config, type_lookup *lookup)
{
	const struct metric_search search = { object, block, config, lookup };
	size_t metrics = 0;

	each_metric(&search, count_metric, &metrics);
	return metrics > 0;
}

void metric_choice_read(struct selection *ret_selection, const struct object *object,
			const char *probe, const struct probe_config *block,
			const struct config *config, type_lookup *lookup)
{
	const struct metric_search search = { object, block, config, lookup };

	*ret_selection = (struct selection){
		.config = config,
		.collect = &block->collect,
		.ignore = &block->ignore,
		.options = &block->options,
		.chooses = check_globs(&search, probe, "Collect", &block->collect),
	};
	check_globs(&search, probe, "Ignore", &block->ignore);
}
