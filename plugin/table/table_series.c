/* SPDX-License-Identifier: MIT */
/*
 * From a table to the set of series that it dispatches.
 */
#include "table_series.h"

#include "schema/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series_adder {
	struct series_set *set;
	const struct metric *metric;
};

static int add_series_name(void *to, unsigned number, const char *name)
{
	const struct series_adder *adder = to;
	struct series_set *set = adder->set;
	char **grown;

	if (!series_is_on(adder->metric, number))
		return 0;
	grown = reallocarray(set->series, set->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	set->series = grown;
	grown[set->count] = strdup(name);
	if (!grown[set->count])
		return -ENOMEM;
	set->count++;
	return 0;
}

static int by_series_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Adds the series of all metrics, with this text for each label. */
static int add_labelled(struct series_set *set, const struct schema *schema,
			const struct config *config, const char *label)
{
	size_t labels = labels_in_instance(&schema->labels);
	int status = 0;

	for (size_t i = 0; i < schema->metric_count && status == 0; i++) {
		struct series_adder adder = { set, &schema->metrics[i] };
		const struct column column = series_with_labels(
			&schema->columns[adder.metric->column[0]], labels, label);

		status = series_each(&column, config, add_series_name, &adder);
	}
	return status;
}

static int add_all_series(struct series_set *set, const struct schema *schema,
			  const struct config *config)
{
	const struct strings *classes = &config->classes;
	int status = 0;

	set->has_labels = labels_in_instance(&schema->labels) > 0;
	if (!labels_are_configured(&schema->labels))
		status = add_labelled(set, schema, config, SERIES_ANY_LABEL);
	else
		for (size_t i = 0; i < classes->count && status == 0; i++)
			status = add_labelled(set, schema, config, classes->item[i]);
	if (set->count)
		qsort(set->series, set->count, sizeof(*set->series), by_series_name);
	return status;
}

/* Rows of a probe are called PROBE, or PROBE-INDEX if there are several. */
static int reserve_row_names(struct subjects *subjects, struct series_set *set,
			     const struct table *table)
{
	set->rows.kind = table->schema.subject.kind;
	if (set->rows.kind == SUBJECT_KEY && !table->schema.subject.cpu &&
	    table->schema.labels.subject < 0)
		return subjects_reserve(subjects, SUBJECT_PROBE, set->probe, 0);
	if (set->rows.kind != SUBJECT_PROBE)
		return 0;
	set->rows.numbers = table->rows.count > 1;
	memcpy(set->rows.name, set->probe, sizeof(set->probe));
	return subjects_reserve(subjects, SUBJECT_PROBE, set->rows.name, set->rows.numbers);
}

int table_register(struct registry *registry, struct subjects *subjects, const void *owner,
		   const char *probe, const struct table *table, const struct config *config,
		   struct error *error)
{
	struct series_set set = { .owner = owner };
	int status;

	snprintf(set.probe, sizeof(set.probe), "%s", probe);
	snprintf(set.map, sizeof(set.map), "%s", table->name);
	status = reserve_row_names(subjects, &set, table);
	status = status ?: add_all_series(&set, &table->schema, config);
	if (status == 0)
		return registry_enter(registry, subjects, &set, error);
	series_set_done(&set);
	return error_set(error, status, "map %s: no memory", table->name);
}
