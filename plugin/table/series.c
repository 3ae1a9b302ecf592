/* SPDX-License-Identifier: MIT */
/*
 * The names of series, and whose they are. Two tables with a series in common would write
 * into one file by turns, so the later one is refused when its probe opens.
 */
#include "series.h"

#include "bpf/lib/hist.h"
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the place of a label, which has no hyphens; no name has slashes. */
#define ANY_LABEL "/"

_Static_assert(SERIES_PERCENTILES + CONFIG_PERCENTILES_MAX <= 32, "metric.series has 32 bits");

/* --- names --- */

static const char *const statistics[] = {
	[SERIES_SAMPLES] = "samples",     [SERIES_AVERAGE] = "average",
	[SERIES_VARIANCE] = "variance",   [SERIES_CV] = "cv",
	[SERIES_FREQUENCY] = "frequency",
};

static void name_statistic(char *to, const struct tag *tag, const char *statistic)
{
	snprintf(to, SERIES_NAME_MAX, "%s%s%s", tag->instance, tag->instance[0] ? "-" : "",
		 statistic);
}

void series_statistic(char *to, const struct tag *tag, enum series_number statistic)
{
	name_statistic(to, tag, statistics[statistic]);
}

void series_percentile(char *to, const struct tag *tag, double percent)
{
	char statistic[32];

	snprintf(statistic, sizeof(statistic), "percentile-%g", percent);
	name_statistic(to, tag, statistic);
}

uint32_t series_buckets(const struct column *column)
{
	return column->kind == COLUMN_BUCKETS ? column->buckets->count : HIST_BUCKETS / HIST_SUB;
}

/* The last one has no end. */
static double bucket_upper(const struct column *column, uint32_t bucket)
{
	if (bucket + 1 == series_buckets(column))
		return INFINITY;
	if (column->kind == COLUMN_BUCKETS)
		return buckets_upper(column->buckets, bucket);
	return (double)hist_lower((bucket + 1) * HIST_SUB);
}

static double bucket_lower(const struct column *column, uint32_t bucket)
{
	if (column->kind == COLUMN_BUCKETS)
		return buckets_lower(column->buckets, bucket);
	return (double)hist_lower(bucket * HIST_SUB);
}

/* As collectd.conf(5) says, section "Bucket": TYPE[-INSTANCE]-LOWER_UPPER. */
void series_bucket(char *to, const struct column *column, uint32_t bucket)
{
	const struct tag *tag = &column->tag;

	snprintf(to, SERIES_NAME_MAX, "%s%s%s-%g_%g", tag->type, tag->instance[0] ? "-" : "",
		 tag->instance, column_scaled(column, bucket_lower(column, bucket)),
		 column_scaled(column, bucket_upper(column, bucket)));
}

/* --- of a column --- */

struct giver {
	series_taker *take;
	void *to;
};

static int give(const struct giver *giver, unsigned number, const char *type, const char *instance)
{
	char name[SERIES_NAME_MAX];

	/* As collectd cuts it. */
	snprintf(name, sizeof(name), "%s%s%.*s", type, instance[0] ? "-" : "", TAG_TEXT_MAX - 1,
		 instance);
	return giver->take(giver->to, number, name);
}

static int give_statistic(const struct giver *giver, const struct tag *tag, unsigned number)
{
	char instance[SERIES_NAME_MAX];

	series_statistic(instance, tag, number);
	return give(giver, number, tag->type, instance);
}

static int give_moments(const struct giver *giver, const struct tag *tag)
{
	unsigned last = tag->frequency ? SERIES_FREQUENCY : SERIES_CV;
	int status = 0;

	for (unsigned i = SERIES_SAMPLES; i <= last && status == 0; i++)
		status = give_statistic(giver, tag, i);
	return status;
}

static int give_hist(const struct giver *giver, const struct column *column,
		     const struct config *config)
{
	int status = give_statistic(giver, &column->tag, SERIES_AVERAGE);
	char instance[SERIES_NAME_MAX];

	for (unsigned i = 0; i < config->percentile_count && status == 0; i++) {
		series_percentile(instance, &column->tag, config->percentiles[i]);
		status = give(giver, SERIES_PERCENTILES + i, column->tag.type, instance);
	}
	for (uint32_t i = 0; config->buckets && i < series_buckets(column) && status == 0; i++) {
		series_bucket(instance, column, i);
		status = give(giver, SERIES_BUCKETS, "bucket", instance);
	}
	return status;
}

int series_each(const struct column *column, const struct config *config, series_taker *take,
		void *to)
{
	const struct giver giver = { take, to };

	switch (column->kind) {
	case COLUMN_MOMENTS:
		return give_moments(&giver, &column->tag);
	case COLUMN_HIST:
	case COLUMN_BUCKETS:
		return give_hist(&giver, column, config);
	default:
		return give(&giver, SERIES_VALUE, column->tag.type, column->tag.instance);
	}
}

struct column series_with_labels(const struct column *column, size_t labels, const char *label)
{
	struct column named = *column;
	char *instance = named.tag.instance;

	for (size_t i = 0; i < labels; i++) {
		size_t length = strlen(instance);

		snprintf(instance + length, sizeof(named.tag.instance) - length, "%s%s",
			 length ? "-" : "", label);
	}
	return named;
}

/* --- of a table --- */

struct adder {
	struct series_set *set;
	const struct metric *metric;
};

static int add_name(void *to, unsigned number, const char *name)
{
	const struct adder *adder = to;
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

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Those with labels of this text. */
static int add_labelled(struct series_set *set, const struct schema *schema,
			const struct config *config, const char *label)
{
	size_t labels = labels_in_instance(&schema->labels);
	int status = 0;

	for (size_t i = 0; i < schema->metric_count && status == 0; i++) {
		struct adder adder = { set, &schema->metrics[i] };
		const struct column column = series_with_labels(
			&schema->columns[adder.metric->column[0]], labels, label);

		status = series_each(&column, config, add_name, &adder);
	}
	return status;
}

static int add_names(struct series_set *set, const struct schema *schema,
		     const struct config *config)
{
	const struct strings *classes = &config->classes;
	int status = 0;

	set->has_labels = labels_in_instance(&schema->labels) > 0;
	if (!labels_are_configured(&schema->labels))
		status = add_labelled(set, schema, config, ANY_LABEL);
	else
		for (size_t i = 0; i < classes->count && status == 0; i++)
			status = add_labelled(set, schema, config, classes->item[i]);
	if (set->count)
		qsort(set->series, set->count, sizeof(*set->series), by_name);
	return status;
}

static void series_set_done(struct series_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->series[i]);
	free(set->series);
	*set = (struct series_set){ 0 };
}

/* --- of all tables --- */

/* Can they be one name, part by part? */
static bool names_meet(const char *a, const char *b)
{
	for (;;) {
		size_t length = strcspn(a, "-"), other = strcspn(b, "-");
		bool any = *a == ANY_LABEL[0] || *b == ANY_LABEL[0];

		if (!any && (length != other || strncmp(a, b, length) != 0))
			return false;
		a += length;
		b += other;
		if (!*a || !*b)
			return *a == *b;
		a++;
		b++;
	}
}

/* As find_twice() and find_common(), of names with labels in them. */
static const char *find_meeting(const struct series_set *a, const struct series_set *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = a == b ? i + 1 : 0; j < b->count; j++)
			if (names_meet(a->series[i], b->series[j]))
				return a->series[i];
	return NULL;
}

/* The first name that is there twice, or NULL. */
static const char *find_twice(const struct series_set *set)
{
	if (set->has_labels)
		return find_meeting(set, set);
	for (size_t i = 1; i < set->count; i++)
		if (!strcmp(set->series[i - 1], set->series[i]))
			return set->series[i];
	return NULL;
}

/* The first name that both have, or NULL. */
static const char *find_common(const struct series_set *a, const struct series_set *b)
{
	size_t i = 0, j = 0;

	if (a->has_labels || b->has_labels)
		return find_meeting(a, b);
	while (i < a->count && j < b->count) {
		int order = strcmp(a->series[i], b->series[j]);

		if (order == 0)
			return a->series[i];
		i += order < 0;
		j += order > 0;
	}
	return NULL;
}

/* The name of a subject that rows of both can stand for, or NULL. */
static const char *find_subject(const struct subjects *subjects, const struct series_set *a,
				const struct series_set *b)
{
	enum subject_kind kind = a->rows.kind;

	if (kind == SUBJECT_KEY || b->rows.kind == SUBJECT_KEY)
		return "subjects that keys name";
	if (kind == SUBJECT_PROBE && b->rows.kind == SUBJECT_SERVICE)
		return subjects_taken(subjects, SUBJECT_SERVICE, &a->rows);
	if (kind == SUBJECT_SERVICE && b->rows.kind == SUBJECT_PROBE)
		return subjects_taken(subjects, SUBJECT_SERVICE, &b->rows);
	if (kind != b->rows.kind)
		return NULL;
	if (kind == SUBJECT_PROBE)
		return subject_names_meet(&a->rows, &b->rows) ? b->rows.name : NULL;
	return kind == SUBJECT_SERVICE ? "services" : "processes";
}

static int check(const struct registry *registry, const struct subjects *subjects,
		 const struct series_set *set, struct error *error)
{
	const char *series = find_twice(set);

	if (series)
		return error_set(error, -EEXIST,
				 "map %s: two of its series are called %s; change one of the tags",
				 set->map, series);
	for (size_t i = 0; i < registry->count; i++) {
		const struct series_set *other = &registry->set[i];
		const char *subject = find_subject(subjects, set, other);

		series = subject ? find_common(set, other) : NULL;
		if (series)
			return error_set(error, -EEXIST,
					 "map %s: the series %s of %s are those of map %s of the "
					 "probe %s already; switch one of the probes off, rename "
					 "it, or change its tag",
					 set->map, series, subject, other->map, other->probe);
	}
	return 0;
}

/* Rows of a probe are called PROBE, or PROBE-INDEX where there are more of them. */
static int take_rows(struct subjects *subjects, struct series_set *set, const struct table *table)
{
	set->rows.kind = table->schema.subject.kind;
	if (set->rows.kind == SUBJECT_KEY && !table->schema.subject.cpu &&
	    table->schema.labels.subject < 0)
		return subjects_take(subjects, SUBJECT_PROBE, set->probe, 0);
	if (set->rows.kind != SUBJECT_PROBE)
		return 0;
	set->rows.numbers = table->rows.count > 1;
	memcpy(set->rows.name, set->probe, sizeof(set->probe));
	return subjects_take(subjects, SUBJECT_PROBE, set->rows.name, set->rows.numbers);
}

int registry_add(struct registry *registry, struct subjects *subjects, const void *owner,
		 const char *probe, const struct table *table, const struct config *config,
		 struct error *error)
{
	struct series_set set = { .owner = owner }, *grown;
	int status;

	snprintf(set.probe, sizeof(set.probe), "%s", probe);
	snprintf(set.map, sizeof(set.map), "%s", table->name);
	status = take_rows(subjects, &set, table);
	status = status ?: add_names(&set, &table->schema, config);
	if (status)
		error_set(error, status, "map %s: no memory", table->name);
	else
		status = check(registry, subjects, &set, error);
	grown = status ? NULL : reallocarray(registry->set, registry->count + 1, sizeof(*grown));
	if (!grown) {
		series_set_done(&set);
		return status ?: error_set(error, -ENOMEM, "map %s: no memory", table->name);
	}
	registry->set = grown;
	registry->set[registry->count++] = set;
	return 0;
}

void registry_remove(struct registry *registry, const void *owner)
{
	size_t kept = 0;

	for (size_t i = 0; i < registry->count; i++) {
		if (registry->set[i].owner == owner)
			series_set_done(&registry->set[i]);
		else
			registry->set[kept++] = registry->set[i];
	}
	registry->count = kept;
}

void registry_done(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		series_set_done(&registry->set[i]);
	free(registry->set);
	*registry = (struct registry){ 0 };
}
