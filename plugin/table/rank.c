/* SPDX-License-Identifier: MIT */
/*
 * Limits series of processes to those with the highest values.
 */
#include "rank.h"

#include <stdlib.h>

struct candidate {
	size_t subject;
	unsigned group;
	uint64_t rank;
};

static int by_group_and_rank(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->subject < b->subject ? -1 : a->subject > b->subject;
}

/* Keeps the order of values, of negative ones, too. */
static uint64_t rank_value(const struct column *column, const struct accumulator *accumulator)
{
	uint64_t n = accumulator->window[column->cell];

	return column->is_gauge && column->is_signed ? n ^ 1ULL << 63 : n;
}

void rank_subjects(struct table *table, const struct snapshot *snapshot)
{
	const struct column *column = &table->schema.columns[table->schema.rank - 1];
	struct candidate *list = calloc(table->accumulators.count + 1, sizeof(*list));
	size_t count = 0, in_group = 0;

	/* Without memory, all are dispatched. */
	if (!list)
		return;
	for (size_t i = 0; i < table->accumulators.count; i++)
		if (table->accumulators.accumulator[i].fed)
			list[count++] = (struct candidate){
				i,
				snapshot->subjects.subject[i].rank_group,
				rank_value(column, &table->accumulators.accumulator[i]),
			};
	qsort(list, count, sizeof(*list), by_group_and_rank);
	for (size_t i = 0; i < count; i++) {
		unsigned top_n = snapshot->subjects.subject[list[i].subject].top_n;

		in_group = i && list[i].group == list[i - 1].group ? in_group + 1 : 0;
		if (top_n && in_group >= top_n)
			table->accumulators.accumulator[list[i].subject].fed = false;
	}
	free(list);
}
