/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERIES_H
#define EBPF_SERIES_H

#include "config/config.h"
#include "schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_NAME_MAX (3 * TAG_TEXT_MAX) /* of a type instance, before collectd cuts it */

/* The series of a metric, as bit numbers of metric.series. An integer has the first, moments
 * the next five, a histogram the average, the buckets, and one percentile for each that is
 * configured. */
enum series_number {
	SERIES_VALUE,
	SERIES_SAMPLES,
	SERIES_AVERAGE,
	SERIES_VARIANCE,
	SERIES_CV,
	SERIES_FREQUENCY,
	SERIES_BUCKETS,
	SERIES_PERCENTILES, /* the first of CONFIG_PERCENTILES_MAX */
};

static inline bool series_is_on(const struct metric *metric, unsigned number)
{
	return metric->series >> number & 1;
}

/* How many series the buckets of a histogram have; for a struct hist, one for each power of two. */
uint32_t series_buckets(const struct column *column);

/* Write the type instances of what is computed from moments and histograms; `to` has
 * SERIES_NAME_MAX bytes. */
void series_statistic(char *to, const struct tag *tag, enum series_number statistic);
void series_percentile(char *to, const struct tag *tag, double percent);
void series_bucket(char *to, const struct column *column, uint32_t bucket);

/* Called with the name of a series, TYPE[-INSTANCE]. Returns 0 to go on. */
typedef int series_visitor(void *to, unsigned number, const char *name);

/* Calls `visit` for each series that a column can have, selected or not. Returns the first result
 * that is not 0, else 0. */
int series_each(const struct column *column, const struct config *config, series_visitor *visit,
		void *to);

/* A copy of the column whose type instance ends with this number of labels, all with this text. */
struct column series_with_labels(const struct column *column, size_t labels, const char *label);

#endif
