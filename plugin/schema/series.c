/* SPDX-License-Identifier: MIT */
/*
 * The names of the series that a column becomes.
 */
#include "series.h"

#include "bpf/lib/hist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SERIES_PERCENTILES + CONFIG_PERCENTILES_MAX <= 32, "metric.series has 32 bits");

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

/* The last bucket has no upper bound. */
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

/* Its form is that of collectd.conf(5), section "Bucket": TYPE[-INSTANCE]-LOWER_UPPER. */
void series_bucket(char *to, const struct column *column, uint32_t bucket)
{
	const struct tag *tag = &column->tag;

	snprintf(to, SERIES_NAME_MAX, "%s%s%s-%g_%g", tag->type, tag->instance[0] ? "-" : "",
		 tag->instance, column_scaled(column, bucket_lower(column, bucket)),
		 column_scaled(column, bucket_upper(column, bucket)));
}

struct series_call {
	series_visitor *visit;
	void *to;
};

static int visit_series(const struct series_call *call, unsigned number, const char *type,
			const char *instance)
{
	char name[SERIES_NAME_MAX];

	/* collectd cuts type instances at this length. */
	snprintf(name, sizeof(name), "%s%s%.*s", type, instance[0] ? "-" : "", TAG_TEXT_MAX - 1,
		 instance);
	return call->visit(call->to, number, name);
}

static int visit_statistic(const struct series_call *call, const struct tag *tag, unsigned number)
{
	char instance[SERIES_NAME_MAX];

	series_statistic(instance, tag, number);
	return visit_series(call, number, tag->type, instance);
}

static int visit_moments(const struct series_call *call, const struct tag *tag)
{
	unsigned last = tag->frequency ? SERIES_FREQUENCY : SERIES_CV;
	int status = 0;

	for (unsigned i = SERIES_SAMPLES; i <= last && status == 0; i++)
		status = visit_statistic(call, tag, i);
	return status;
}

static int visit_hist(const struct series_call *call, const struct column *column,
		      const struct config *config)
{
	int status = visit_statistic(call, &column->tag, SERIES_AVERAGE);
	char instance[SERIES_NAME_MAX];

	for (unsigned i = 0; i < config->percentile_count && status == 0; i++) {
		series_percentile(instance, &column->tag, config->percentiles[i]);
		status = visit_series(call, SERIES_PERCENTILES + i, column->tag.type, instance);
	}
	for (uint32_t i = 0; config->buckets && i < series_buckets(column) && status == 0; i++) {
		series_bucket(instance, column, i);
		status = visit_series(call, SERIES_BUCKETS, "bucket", instance);
	}
	return status;
}

int series_each(const struct column *column, const struct config *config, series_visitor *visit,
		void *to)
{
	const struct series_call call = { visit, to };

	switch (column->kind) {
	case COLUMN_MOMENTS:
		return visit_moments(&call, &column->tag);
	case COLUMN_HIST:
	case COLUMN_BUCKETS:
		return visit_hist(&call, column, config);
	default:
		return visit_series(&call, SERIES_VALUE, column->tag.type, column->tag.instance);
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
