/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <err.h>
#include <stdlib.h>

static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
static const char *const names[] = { "p50", "p90", "p99", "p99.9" };
#define SECOND 1000000000ULL
#define QUANTILES (sizeof(quantiles) / sizeof(*quantiles))

void record_add(struct record *record, uint64_t ns)
{
	if (record->count == record->room) {
		record->room = record->room ? 2 * record->room : 1 << 16;
		record->samples = realloc(record->samples, record->room * sizeof(struct sample));
		if (!record->samples)
			err(1, "record");
	}
	record->samples[record->count++] = (struct sample){
		.end_ns = clock_ns(CLOCK_REALTIME),
		.ns = ns,
	};
}

static int by_value(const void *a, const void *b)
{
	const struct sample *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static uint64_t second_of(const struct sample *sample)
{
	return sample->end_ns / SECOND;
}

static int by_second(const void *a, const void *b)
{
	uint64_t left = second_of(a), right = second_of(b);

	return left == right ? by_value(a, b) : left < right ? -1 : 1;
}

static int by_end(const void *a, const void *b)
{
	const struct sample *left = a, *right = b;

	return left->end_ns < right->end_ns ? -1 : left->end_ns > right->end_ns;
}

/* The largest sample with at most `quantile` of all samples below it, in seconds. */
static double quantile_of(const struct sample *sorted, size_t count, double quantile)
{
	return count ? sorted[(size_t)(quantile * (count - 1))].ns / 1e9 : 0;
}

static void print_seconds(struct record *record, FILE *out)
{
	size_t begin = 0;

	qsort(record->samples, record->count, sizeof(struct sample), by_second);
	for (size_t end = 1; end <= record->count; end++) {
		const struct sample *first = &record->samples[begin];

		if (end < record->count && second_of(first) == second_of(first + (end - begin)))
			continue;
		fprintf(out, "%s[%lu, %zu", begin ? ", " : "", second_of(first), end - begin);
		for (size_t i = 0; i < QUANTILES; i++)
			fprintf(out, ", %.9f", quantile_of(first, end - begin, quantiles[i]));
		fprintf(out, "]");
		begin = end;
	}
}

static void print_tenths(struct record *record, FILE *out)
{
	size_t begin = 0;

	qsort(record->samples, record->count, sizeof(struct sample), by_end);
	for (size_t end = 1; end <= record->count; end++) {
		uint64_t tenth = record->samples[begin].end_ns / (SECOND / 10);

		if (end < record->count && record->samples[end].end_ns / (SECOND / 10) == tenth)
			continue;
		fprintf(out, "%s[%lu.%lu, %zu]", begin ? ", " : "", tenth / 10, tenth % 10,
			end - begin);
		begin = end;
	}
}

void record_print(struct record *record, const char *name, FILE *out)
{
	double sum = 0;

	for (size_t i = 0; i < record->count; i++)
		sum += record->samples[i].ns;
	fprintf(out, "\"%s\": {\"count\": %zu, \"average\": %.9f", name, record->count,
		record->count ? sum / record->count / 1e9 : 0);
	qsort(record->samples, record->count, sizeof(struct sample), by_value);
	for (size_t i = 0; i < QUANTILES; i++)
		fprintf(out, ", \"%s\": %.9f", names[i],
			quantile_of(record->samples, record->count, quantiles[i]));
	fprintf(out, ", \"max\": %.9f, \"seconds\": [",
		quantile_of(record->samples, record->count, 1));
	print_seconds(record, out);
	fprintf(out, "], \"tenths\": [");
	print_tenths(record, out);
	fprintf(out, "]}");
	record->count = 0;
}
