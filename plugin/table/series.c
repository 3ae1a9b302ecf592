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

/* --- names --- */

void series_statistic(char *to, const struct tag *tag, const char *statistic)
{
	snprintf(to, SERIES_NAME_MAX, "%s%s%s", tag->instance, tag->instance[0] ? "-" : "",
		 statistic);
}

void series_percentile(char *to, const struct tag *tag, double percent)
{
	char statistic[32];

	snprintf(statistic, sizeof(statistic), "percentile-%g", percent);
	series_statistic(to, tag, statistic);
}

/* As collectd.conf(5) says, section "Bucket": TYPE[-INSTANCE]-LOWER_UPPER. */
void series_bucket(char *to, const struct column *column, uint32_t bucket)
{
	const struct tag *tag = &column->tag;
	uint32_t end = bucket + HIST_SUB;
	double upper =
		end == HIST_BUCKETS ? INFINITY : column_scaled(column, (double)hist_lower(end));

	snprintf(to, SERIES_NAME_MAX, "%s%s%s-%g_%g", tag->type, tag->instance[0] ? "-" : "",
		 tag->instance, column_scaled(column, (double)hist_lower(bucket)), upper);
}

/* --- of a table --- */

static int add_name(struct claim *claim, const char *type, const char *instance)
{
	char **grown = reallocarray(claim->series, claim->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	claim->series = grown;
	/* As collectd cuts it. */
	if (asprintf(&grown[claim->count], "%s%s%.*s", type, instance[0] ? "-" : "",
		     SCHEMA_TEXT_MAX - 1, instance) < 0)
		return -ENOMEM;
	claim->count++;
	return 0;
}

static int add_moments(struct claim *claim, const struct tag *tag)
{
	static const char *const statistics[] = { "samples", "average", "variance", "cv",
						  "frequency" };
	size_t count = sizeof(statistics) / sizeof(*statistics) - !tag->frequency;
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		char instance[SERIES_NAME_MAX];

		series_statistic(instance, tag, statistics[i]);
		status = add_name(claim, tag->type, instance);
	}
	return status;
}

static int add_hist(struct claim *claim, const struct column *column, const struct config *config)
{
	const char *type = column->tag.type;
	char instance[SERIES_NAME_MAX];
	int status;

	series_statistic(instance, &column->tag, "average");
	status = add_name(claim, type, instance);
	for (size_t i = 0; i < config->percentile_count && status == 0; i++) {
		series_percentile(instance, &column->tag, config->percentiles[i]);
		status = add_name(claim, type, instance);
	}
	for (uint32_t i = 0; config->buckets && i < HIST_BUCKETS && status == 0; i += HIST_SUB) {
		series_bucket(instance, column, i);
		status = add_name(claim, "bucket", instance);
	}
	return status;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int add_names(struct claim *claim, const struct schema *schema, const struct config *config)
{
	int status = 0;

	for (size_t i = 0; i < schema->metric_count && status == 0; i++) {
		const struct column *column = &schema->columns[schema->metrics[i].column[0]];

		if (column->kind == COLUMN_INTEGER)
			status = add_name(claim, column->tag.type, column->tag.instance);
		else if (column->kind == COLUMN_MOMENTS)
			status = add_moments(claim, &column->tag);
		else
			status = add_hist(claim, column, config);
	}
	if (claim->count)
		qsort(claim->series, claim->count, sizeof(*claim->series), by_name);
	return status;
}

static void claim_done(struct claim *claim)
{
	for (size_t i = 0; i < claim->count; i++)
		free(claim->series[i]);
	free(claim->series);
	*claim = (struct claim){ 0 };
}

/* --- of all tables --- */

/* The first name that is there twice, or NULL. */
static const char *find_twice(const struct claim *claim)
{
	for (size_t i = 1; i < claim->count; i++)
		if (!strcmp(claim->series[i - 1], claim->series[i]))
			return claim->series[i];
	return NULL;
}

/* The first name that both have, or NULL. */
static const char *find_common(const struct claim *a, const struct claim *b)
{
	size_t i = 0, j = 0;

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
static const char *find_subject(const struct subjects *subjects, const struct claim *a,
				const struct claim *b)
{
	enum subject_kind kind = a->rows.kind;

	if (kind == SUBJECT_PROBE && b->rows.kind == SUBJECT_SERVICE)
		return subjects_claimed(subjects, SUBJECT_SERVICE, &a->rows);
	if (kind == SUBJECT_SERVICE && b->rows.kind == SUBJECT_PROBE)
		return subjects_claimed(subjects, SUBJECT_SERVICE, &b->rows);
	if (kind != b->rows.kind)
		return NULL;
	if (kind == SUBJECT_PROBE)
		return subject_claims_meet(&a->rows, &b->rows) ? b->rows.name : NULL;
	return kind == SUBJECT_SERVICE ? "services" : "processes";
}

static int check(const struct registry *registry, const struct subjects *subjects,
		 const struct claim *claim, struct error *error)
{
	const char *series = find_twice(claim);

	if (series)
		return error_set(error, -EEXIST,
				 "map %s: two of its series are called %s; change one of the tags",
				 claim->map, series);
	for (size_t i = 0; i < registry->count; i++) {
		const struct claim *other = &registry->claim[i];
		const char *subject = find_subject(subjects, claim, other);

		series = subject ? find_common(claim, other) : NULL;
		if (series)
			return error_set(error, -EEXIST,
					 "map %s: the series %s of %s are those of map %s of the "
					 "probe %s already; switch one of the probes off, rename "
					 "it, or change its tag",
					 claim->map, series, subject, other->map, other->probe);
	}
	return 0;
}

/* Rows of a probe are called PROBE, or PROBE-INDEX where there are more of them. */
static int claim_rows(struct subjects *subjects, struct claim *claim, const struct table *table)
{
	claim->rows.kind = table->schema.subject.kind;
	if (claim->rows.kind != SUBJECT_PROBE)
		return 0;
	claim->rows.numbers = table->rows.count > 1;
	memcpy(claim->rows.name, claim->probe, sizeof(claim->probe));
	return subjects_claim(subjects, SUBJECT_PROBE, claim->rows.name, claim->rows.numbers);
}

int registry_add(struct registry *registry, struct subjects *subjects, const void *owner,
		 const char *probe, const struct table *table, const struct config *config,
		 struct error *error)
{
	struct claim claim = { .owner = owner }, *grown;
	int status;

	snprintf(claim.probe, sizeof(claim.probe), "%s", probe);
	snprintf(claim.map, sizeof(claim.map), "%s", table->name);
	status = claim_rows(subjects, &claim, table);
	status = status ?: add_names(&claim, &table->schema, config);
	if (status)
		error_set(error, status, "map %s: no memory", table->name);
	else
		status = check(registry, subjects, &claim, error);
	grown = status ? NULL : reallocarray(registry->claim, registry->count + 1, sizeof(*grown));
	if (!grown) {
		claim_done(&claim);
		return status ?: error_set(error, -ENOMEM, "map %s: no memory", table->name);
	}
	registry->claim = grown;
	registry->claim[registry->count++] = claim;
	return 0;
}

void registry_remove(struct registry *registry, const void *owner)
{
	size_t kept = 0;

	for (size_t i = 0; i < registry->count; i++) {
		if (registry->claim[i].owner == owner)
			claim_done(&registry->claim[i]);
		else
			registry->claim[kept++] = registry->claim[i];
	}
	registry->count = kept;
}

void registry_done(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		claim_done(&registry->claim[i]);
	free(registry->claim);
	*registry = (struct registry){ 0 };
}
