/* SPDX-License-Identifier: MIT */
#ifndef VALUES_H
#define VALUES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Values of known distributions, the same in every run, and their exact statistics. */

enum values_kind {
	VALUES_CONSTANT,    /* scale */
	VALUES_UNIFORM,     /* 0 to scale */
	VALUES_EXPONENTIAL, /* of the mean scale */
	VALUES_LOG_UNIFORM, /* 1 to scale, each power of two as often */
	VALUES_TWO_PEAKS,   /* nine of ten near scale, the tenth near a hundred times that */
};

static inline double values_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static inline void values_fill(uint64_t *values, size_t count, enum values_kind kind, double scale)
{
	uint64_t state = 1;

	for (size_t i = 0; i < count; i++) {
		double random = values_random(&state);
		double value = scale;

		if (kind == VALUES_UNIFORM)
			value = random * scale;
		else if (kind == VALUES_EXPONENTIAL)
			value = -log(random) * scale;
		else if (kind == VALUES_LOG_UNIFORM)
			value = exp(random * log(scale));
		else if (kind == VALUES_TWO_PEAKS)
			value = (i % 10 ? 1 : 100) * scale * (0.9 + 0.2 * random);
		values[i] = (uint64_t)value;
	}
}

static inline int values_order(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static inline void values_sort(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), values_order);
}

/* The smallest of the sorted values that at least permille / 1000 of them do not exceed. */
static inline uint64_t values_percentile(const uint64_t *sorted, size_t count, unsigned permille)
{
	size_t rank = (count * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static inline long double values_mean(const uint64_t *values, size_t count)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return (long double)sum / (long double)count;
}

/* Uses integer distances to the floor of the mean, so that a small variance of large values
 * loses no precision. */
static inline long double values_variance(const uint64_t *values, size_t count)
{
	unsigned __int128 sum = 0, squares = 0;
	uint64_t middle;
	long double remainder;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	middle = (uint64_t)(sum / count);
	for (size_t i = 0; i < count; i++) {
		uint64_t far = values[i] < middle ? middle - values[i] : values[i] - middle;

		squares += (unsigned __int128)far * far;
	}
	remainder = (long double)(uint64_t)(sum % count) / (long double)count;
	return (long double)squares / (long double)count - remainder * remainder;
}

#endif
