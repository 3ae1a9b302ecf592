/* SPDX-License-Identifier: MIT */
/*
 * From accumulators to values: a counter as it is, as a rate or as a ratio; moments as mean,
 * variance, coefficient of variation and frequency; a histogram as percentiles. The first reading
 * publishes nothing that needs a time difference.
 */
#include "publish.h"

#include "bpf/lib/hist.h"
#include "schema/series.h"
#include "table/kind.h"
#include "table/moments.h"
#include "table/percentile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOMENTS_ENOUGH 2048 /* samples; the paper (see stats.h) calls results of fewer uncertain */

struct publisher {
	const struct table *table;
	const struct config *config;
	const struct dispatch *dispatch;
	const char *subject;
	const char *labels; /* appended to type instances; empty: none */
	const struct accumulator *accumulator;
	const struct metric *metric; /* the one that is being published */
};

static uint64_t scaled_counter(const struct column *column, uint64_t n)
{
	return (uint64_t)((unsigned __int128)n * column->tag.numerator / column->tag.denominator);
}

/* Growth of one column divided by that of another; NAN where the latter has not grown. */
static double column_ratio(const struct publisher *p, const struct column *column)
{
	uint64_t n = p->accumulator->window[column->cell];
	uint64_t per = p->accumulator->window[p->table->schema.columns[column->per].cell];

	return per ? column_scaled(column, (double)n) / (double)per : NAN;
}

static double column_gauge(const struct publisher *p, const struct column *column)
{
	uint64_t n = p->accumulator->window[column->cell];

	if (column->tag.per[0])
		return column_ratio(p, column);
	if (!column->tag.rate)
		return column_scaled(column, column->is_signed ? (double)(int64_t)n : (double)n);
	if (p->table->elapsed_ns == 0)
		return NAN;
	/* Division before multiplication: growth by exactly the elapsed time gives a round
	 * number. */
	return column_scaled(column, (double)n / (double)p->table->elapsed_ns * 1e9);
}

static struct value column_value(const struct publisher *p, const struct column *column)
{
	struct value value = { .kind = column->ds };

	switch (column->ds) {
	case SOURCE_GAUGE:
		value.gauge = column_gauge(p, column);
		break;
	case SOURCE_DERIVE:
		value.derive = (int64_t)scaled_counter(column, p->accumulator->total[column->cell]);
		break;
	case SOURCE_ABSOLUTE:
		value.counter = scaled_counter(column, p->accumulator->window[column->cell]);
		break;
	case SOURCE_COUNTER:
		value.counter = scaled_counter(column, p->accumulator->total[column->cell]);
		break;
	}
	return value;
}

/* The tag of a column; the labels of the subject are appended to its type instance. */
static struct tag column_tag(const struct publisher *p, const struct column *column)
{
	struct tag tag = column->tag;
	size_t length = strlen(tag.instance);

	if (p->labels[0])
		snprintf(tag.instance + length, sizeof(tag.instance) - length, "%s%s",
			 length ? "-" : "", p->labels);
	return tag;
}

/* A receiver computes no rate from the first value of a counter. A new series was zero at the
 * previous reading; dispatching that zero gives its first interval a rate. One that is still zero
 * has none: it is not dispatched twice. */
static void publish_first_zeros(const struct publisher *p, const struct tag *tag,
				const struct value *values, size_t count)
{
	struct value zeros[SCHEMA_SOURCES_MAX];
	bool grown = false;

	for (size_t i = 0; i < count; i++) {
		if (values[i].kind != SOURCE_DERIVE && values[i].kind != SOURCE_COUNTER)
			return;
		zeros[i] = (struct value){ .kind = values[i].kind };
		grown |= values[i].counter != 0;
	}
	if (!grown)
		return;
	dispatch_previous(p->dispatch, p->subject, tag->type, tag->instance, zeros, count);
}

/* Have all columns that the metric depends on (`where`) grown in this window? */
static bool has_required_growth(const struct publisher *p, const struct metric *metric)
{
	const struct column *columns = p->table->schema.columns;
	bool there = true;

	for (size_t i = 0; i < metric->source_count; i++) {
		uint32_t where = columns[metric->column[i]].where;

		there = there && (!where || p->accumulator->window[columns[where - 1].cell]);
	}
	return there;
}

static void publish_integers(const struct publisher *p, const struct metric *metric)
{
	const struct column *columns = p->table->schema.columns;
	const struct tag tag = column_tag(p, &columns[metric->column[0]]);
	struct value values[SCHEMA_SOURCES_MAX];

	if (!series_is_on(metric, SERIES_VALUE) || !has_required_growth(p, metric))
		return;
	for (size_t i = 0; i < metric->source_count; i++)
		values[i] = column_value(p, &columns[metric->column[i]]);
	if (metric->source_count == 1 && values[0].kind == SOURCE_GAUGE && isnan(values[0].gauge))
		return;
	if (p->accumulator->begins)
		publish_first_zeros(p, &tag, values, metric->source_count);
	dispatch_values(p->dispatch, p->subject, tag.type, tag.instance, values,
			metric->source_count);
}

static void publish_statistic(const struct publisher *p, const struct tag *tag,
			      enum series_number statistic, double gauge)
{
	char instance[SERIES_NAME_MAX];

	if (!series_is_on(p->metric, statistic))
		return;
	series_statistic(instance, tag, statistic);
	dispatch_gauge(p->dispatch, p->subject, tag->type, instance, gauge);
}

/* The relative standard error of the mean is cv / sqrt(samples), so a window with enough samples is
 * used where there is one. The unit of the variance is squared, so the scale is applied twice. The
 * frequency is 1 / mean: RPS_obsv, equation 1 of the paper. */
static void publish_moments(const struct publisher *p, uint32_t i)
{
	const struct column *column = &p->table->schema.columns[i];
	const struct tag own = column_tag(p, column), *tag = &own;
	uint64_t cells[MOMENTS_CELLS];
	struct moments_summary s;

	accumulator_moments(p->accumulator, &p->table->schema, i, MOMENTS_ENOUGH, cells);
	publish_statistic(p, tag, SERIES_SAMPLES, (double)cells[0]);
	if (cells[0] < 2)
		return;
	s = moments_summarise(cells);
	publish_statistic(p, tag, SERIES_AVERAGE, column_scaled(column, s.mean));
	publish_statistic(p, tag, SERIES_VARIANCE,
			  column_scaled(column, column_scaled(column, s.variance)));
	publish_statistic(p, tag, SERIES_CV, s.cv);
	if (tag->frequency)
		publish_statistic(p, tag, SERIES_FREQUENCY,
				  s.mean > 0 ? 1 / column_scaled(column, s.mean) : NAN);
}

/* Dispatches each bucket as a rate. */
static void publish_buckets(const struct publisher *p, const struct column *column)
{
	const uint64_t *cells = p->accumulator->window + column->cell;
	uint32_t each = column->kind == COLUMN_HIST ? HIST_SUB : 1;
	struct column named = *column;

	named.tag = column_tag(p, column);
	for (uint32_t i = 0; i < series_buckets(column); i++) {
		char instance[SERIES_NAME_MAX];

		series_bucket(instance, &named, i);
		dispatch_gauge(p->dispatch, p->subject, "bucket", instance,
			       (double)hist_count(cells + (size_t)i * each, each) * 1e9 /
				       (double)p->table->elapsed_ns);
	}
}

static double histogram_mean(const struct column *column, const uint64_t *cells)
{
	return column->kind == COLUMN_HIST ? hist_mean(cells, HIST_BUCKETS)
					   : buckets_mean(column->buckets, cells);
}

static double histogram_percentile(const struct column *column, const uint64_t *cells,
				   double percent)
{
	return column->kind == COLUMN_HIST
		       ? hist_percentile(cells, HIST_BUCKETS, percent, column->tag.least)
		       : buckets_percentile(column->buckets, cells, percent);
}

static void publish_hist(const struct publisher *p, const struct column *column)
{
	const uint64_t *cells = p->accumulator->window + column->cell;
	const struct tag own = column_tag(p, column), *tag = &own;

	publish_statistic(p, tag, SERIES_AVERAGE,
			  column_scaled(column, histogram_mean(column, cells)));
	for (unsigned i = 0; i < p->config->percentile_count; i++) {
		double percent = p->config->percentiles[i];
		char instance[SERIES_NAME_MAX];

		if (!series_is_on(p->metric, SERIES_PERCENTILES + i))
			continue;
		series_percentile(instance, tag, percent);
		dispatch_gauge(p->dispatch, p->subject, tag->type, instance,
			       column_scaled(column, histogram_percentile(column, cells, percent)));
	}
	if (p->config->buckets && series_is_on(p->metric, SERIES_BUCKETS))
		publish_buckets(p, column);
}

static bool is_metric_absent(const struct publisher *p, const struct metric *metric)
{
	bool absent = false;

	for (size_t i = 0; i < metric->source_count; i++)
		absent |= p->table->schema.columns[metric->column[i]].is_absent;
	return absent;
}

static void publish_metric(struct publisher *p, const struct metric *metric)
{
	const struct column *column = &p->table->schema.columns[metric->column[0]];

	p->metric = metric;
	if (is_metric_absent(p, metric))
		return;
	if (column->kind == COLUMN_INTEGER)
		publish_integers(p, metric);
	else if (p->table->elapsed_ns == 0)
		return;
	else if (column->kind == COLUMN_MOMENTS)
		publish_moments(p, metric->column[0]);
	else
		publish_hist(p, column);
}

void publish_table(const struct table *table, const struct snapshot *snapshot, const char *probe,
		   const struct config *config, const struct dispatch *dispatch)
{
	const struct kind *kind = row_kind_of(table->schema.subject.kind);

	for (size_t i = 0; i < table->accumulators.count; i++) {
		struct series_name name;
		struct publisher p = {
			.table = table,
			.config = config,
			.dispatch = dispatch,
			.subject = name.subject,
			.accumulator = &table->accumulators.accumulator[i],
		};

		if (!p.accumulator->fed)
			continue;
		kind->name(table, snapshot, probe, i, &name);
		p.labels = name.labels;
		for (size_t m = 0; m < table->schema.metric_count; m++)
			publish_metric(&p, &table->schema.metrics[m]);
	}
}
