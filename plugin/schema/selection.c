/* SPDX-License-Identifier: MIT */
/*
 * Which metrics are collected: those that Collect names, else those that are on by default, without
 * those that Ignore names. A glob names a metric with all of its series, or some of these.
 */
#include "selection.h"

#include "series.h"
#include "util/glob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY_LABEL "*"
#define ALL UINT32_MAX

static const struct config no_config;

/* --- globs --- */

struct series_matcher {
	const char *glob;
	uint32_t series; /* those that match */
};

static int match_series(void *to, unsigned number, const char *name)
{
	struct series_matcher *matcher = to;

	if (glob_match(matcher->glob, name))
		matcher->series |= 1U << number;
	return 0;
}

/* The series of a metric that a glob matches; ALL if it matches the metric as a whole. A name is
 * tried with one * for all labels, too, as people write it, however many labels there are. */
static uint32_t match_metric(const char *glob, const struct schema *schema,
			     const struct metric *metric, const struct config *config)
{
	const struct column *column = &schema->columns[metric->column[0]];
	size_t labels = labels_in_instance(&schema->labels) > 0;
	struct series_matcher matcher = { .glob = glob };

	for (size_t with = 0; with <= labels; with++) {
		const struct column named = series_with_labels(column, with, ANY_LABEL);
		char name[SERIES_NAME_MAX];

		snprintf(name, sizeof(name), "%s%s%s", named.tag.type,
			 named.tag.instance[0] ? "-" : "", named.tag.instance);
		if (glob_match(glob, name))
			return ALL;
		series_each(&named, config ?: &no_config, match_series, &matcher);
	}
	return matcher.series;
}

bool selection_fits(const char *glob, const struct schema *schema, const struct metric *metric,
		    const struct config *config)
{
	return match_metric(glob, schema, metric, config) != 0;
}

void selection_name(char *to, const struct schema *schema, const struct metric *metric)
{
	const struct column named =
		series_with_labels(&schema->columns[metric->column[0]],
				   labels_in_instance(&schema->labels) > 0, ANY_LABEL);

	snprintf(to, SERIES_NAME_MAX, "%s%s%s", named.tag.type, named.tag.instance[0] ? "-" : "",
		 named.tag.instance);
}

static uint32_t match_any(const struct selection *selection, const struct strings *globs,
			  const struct schema *schema, const struct metric *metric)
{
	uint32_t series = 0;

	for (size_t i = 0; globs && i < globs->count; i++)
		series |= match_metric(globs->item[i], schema, metric, selection->config);
	return series;
}

static bool wants_default(const struct selection *selection)
{
	bool wants = !selection->chooses;

	for (size_t i = 0; selection->collect && i < selection->collect->count; i++)
		wants |= !strcmp(selection->collect->item[i], SELECTION_DEFAULT);
	return wants;
}

static uint32_t selected_series(const struct selection *selection, const struct schema *schema,
				const struct metric *metric)
{
	bool by_default = wants_default(selection) && !schema_is_off(schema, metric);
	uint32_t series =
		by_default ? ALL : match_any(selection, selection->collect, schema, metric);

	return series & ~match_any(selection, selection->ignore, schema, metric);
}

static int note_series(void *to, unsigned number, __attribute__((unused)) const char *name)
{
	*(uint32_t *)to |= 1U << number;
	return 0;
}

/* The series that a metric has, selected or not. */
static uint32_t existing_series(const struct selection *selection, const struct schema *schema,
				const struct metric *metric)
{
	uint32_t series = 0;

	series_each(&schema->columns[metric->column[0]], selection->config ?: &no_config,
		    note_series, &series);
	return series;
}

/* --- columns --- */

static void choose_metrics(const struct selection *selection, struct schema *schema)
{
	size_t count = 0;

	for (size_t i = 0; i < schema->metric_count; i++) {
		struct metric *metric = &schema->metrics[i];

		metric->series = selected_series(selection, schema, metric);
		if (metric->series & existing_series(selection, schema, metric))
			schema->metrics[count++] = *metric;
	}
	schema->metric_count = count;
}

/* Of rows that are named by keys, the first column ranks if no column has the word rank. */
static void choose_rank(struct schema *schema)
{
	if (schema->subject.kind == SUBJECT_KEY && !schema->rank)
		schema->rank = 1;
}

/* Does the column decide which subjects have series? */
static bool decides_series(const struct schema *schema, const struct column *column)
{
	enum subject_kind kind = schema->subject.kind;
	bool ranks = schema->rank && column == &schema->columns[schema->rank - 1];

	return (ranks && (kind == SUBJECT_PROCESS || kind == SUBJECT_KEY)) ||
	       (column->tag.active_growth && (kind == SUBJECT_SERVICE || kind == SUBJECT_KEY));
}

/* Sets needed[i] for columns of metrics, for columns that decide who has series, and for those that
 * either refer to. */
static void find_needed(struct schema *schema, bool *needed)
{
	for (size_t i = 0; i < schema->column_count; i++) {
		needed[i] = decides_series(schema, &schema->columns[i]);
		schema->columns[i].is_hidden = true;
	}
	for (size_t i = 0; i < schema->metric_count; i++) {
		const struct metric *metric = &schema->metrics[i];

		for (size_t j = 0; j < metric->source_count; j++) {
			needed[metric->column[j]] = true;
			schema->columns[metric->column[j]].is_hidden = false;
		}
	}
	/* Columns that others refer to refer to none themselves. */
	for (size_t i = 0; i < schema->column_count; i++) {
		if (needed[i] && schema->columns[i].tag.per[0])
			needed[schema->columns[i].per] = true;
		if (needed[i] && schema->columns[i].where)
			needed[schema->columns[i].where - 1] = true;
	}
}

/* Removes columns that are not needed; now[i] becomes the new index of column i. */
static void compact_columns(struct schema *schema, const bool *needed, uint32_t *now)
{
	uint32_t count = 0;

	schema->cells = schema->row_cells = schema->moments = 0;
	for (size_t i = 0; i < schema->column_count; i++) {
		now[i] = count;
		if (!needed[i])
			continue;
		schema->columns[count] = schema->columns[i];
		schema_give_cells(schema, &schema->columns[count++]);
	}
	schema->column_count = count;
}

static void renumber_columns(struct schema *schema, const bool *needed, const uint32_t *now)
{
	for (size_t i = 0; i < schema->column_count; i++) {
		struct column *column = &schema->columns[i];

		column->per = now[column->per];
		if (column->where)
			column->where = now[column->where - 1] + 1;
	}
	for (size_t i = 0; i < schema->metric_count; i++)
		for (size_t j = 0; j < schema->metrics[i].source_count; j++)
			schema->metrics[i].column[j] = now[schema->metrics[i].column[j]];
	if (schema->rank)
		schema->rank = needed[schema->rank - 1] ? now[schema->rank - 1] + 1 : 0;
}

int selection_apply(const struct selection *selection, struct schema *schema)
{
	size_t count = schema->column_count;
	bool *needed = calloc(count + 1, sizeof(*needed));
	uint32_t *now = calloc(count + 1, sizeof(*now));
	int status = needed && now ? 0 : -ENOMEM;

	if (status == 0) {
		choose_metrics(selection, schema);
		choose_rank(schema);
		find_needed(schema, needed);
		if (schema->metric_count == 0)
			memset(needed, 0, count * sizeof(*needed));
		compact_columns(schema, needed, now);
		renumber_columns(schema, needed, now);
	}
	free(needed);
	free(now);
	return status;
}
