/* SPDX-License-Identifier: MIT */
/*
 * Sums by subject.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct tallies *tallies, size_t count)
{
	struct tally *grown;

	if (count <= tallies->count)
		return true;
	grown = reallocarray(tallies->tally, count, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + tallies->count, 0, (count - tallies->count) * sizeof(*grown));
	tallies->tally = grown;
	tallies->count = count;
	return true;
}

struct tally *tallies_at(struct tallies *tallies, size_t cells, size_t place, uint64_t generation,
			 bool *ret_new)
{
	struct tally *tally;

	if (!grow(tallies, place + 1))
		return NULL;
	tally = &tallies->tally[place];
	*ret_new = !tally->total || tally->generation != generation;
	if (!tally->total) {
		tally->total = calloc(2 * cells + 1, sizeof(uint64_t));
		if (!tally->total)
			return NULL;
		tally->window = tally->total + cells;
	} else if (tally->generation != generation) {
		memset(tally->total, 0, 2 * cells * sizeof(uint64_t));
		tally->counted = false;
	}
	tally->generation = generation;
	return tally;
}

void tallies_begin(struct tallies *tallies, size_t cells)
{
	for (size_t i = 0; i < tallies->count; i++) {
		struct tally *tally = &tallies->tally[i];

		tally->fed = false;
		if (tally->window)
			memset(tally->window, 0, cells * sizeof(uint64_t));
	}
}

void tallies_done(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		free(tallies->tally[i].total);
	free(tallies->tally);
	*tallies = (struct tallies){ 0 };
}
