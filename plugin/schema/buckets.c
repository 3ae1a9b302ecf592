/* SPDX-License-Identifier: MIT */
/*
 * Buckets of histograms that other people's objects fill: powers of two, steps of equal width, or a
 * list of bounds.
 */
#include "buckets.h"

#include "util/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER_MAX 64 /* bits of the largest integer */

static const char *const kinds[] = {
	[BUCKETS_EXP2] = "exp2",
	[BUCKETS_EXP2ZERO] = "exp2zero",
	[BUCKETS_LINEAR] = "linear",
	[BUCKETS_FIXED] = "fixed",
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static bool parse_bucket_number(const char *text, uint64_t *ret_number)
{
	struct number number;
	const char *end;

	if (!number_parse(text, &number, &end) || *end || number.negative)
		return false;
	*ret_number = number.magnitude;
	return true;
}

static int parse_bucket_range(const struct strings *words, struct buckets *buckets,
			      struct error *error)
{
	uint64_t last;

	if (words->count != 3 || !parse_bucket_number(words->item[1], &buckets->first) ||
	    !parse_bucket_number(words->item[2], &last) || last < buckets->first)
		return error_set(error, -EINVAL,
				 "Histogram \"%s\" takes the numbers of the first and of the last "
				 "bucket",
				 words->item[0]);
	if (last - buckets->first >= BUCKETS_MAX)
		return error_set(error, -EINVAL, "a histogram has at most %d buckets", BUCKETS_MAX);
	if (buckets->kind != BUCKETS_LINEAR && last > POWER_MAX)
		return error_set(error, -EINVAL,
				 "the last bucket of Histogram \"%s\" is %d at most",
				 words->item[0], POWER_MAX);
	if (last == UINT64_MAX)
		return error_set(error, -EINVAL, "the last bucket leaves no number for the sum");
	buckets->count = (uint32_t)(last - buckets->first) + 1;
	return 0;
}

static int parse_bucket_bounds(const struct strings *words, struct buckets *buckets,
			       struct error *error)
{
	size_t count = words->count - 1;

	if (count < 1 || count > BUCKETS_MAX)
		return error_set(error, -EINVAL, "Histogram \"fixed\" takes 1 to %d bounds",
				 BUCKETS_MAX);
	buckets->bound = calloc(count, sizeof(*buckets->bound));
	if (!buckets->bound)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 0; i < count; i++)
		if (!parse_bucket_number(words->item[i + 1], &buckets->bound[i]) ||
		    buckets->bound[i] == UINT64_MAX ||
		    (i && buckets->bound[i] <= buckets->bound[i - 1]))
			return error_set(
				error, -EINVAL,
				"the bounds of Histogram \"fixed\" are whole numbers, each "
				"larger than the one before it, and \"%.32s\" is not",
				words->item[i + 1]);
	buckets->count = (uint32_t)count;
	return 0;
}

int buckets_parse(const struct strings *words, struct buckets *ret_buckets, struct error *error)
{
	struct buckets buckets = { .bound = NULL };
	unsigned kind = 0;
	int status;

	while (kind < KINDS && strcmp(kinds[kind], words->item[0]) != 0)
		kind++;
	if (kind == KINDS)
		return error_set(error, -EINVAL,
				 "unknown Histogram \"%.32s\" (exp2, exp2zero, linear or fixed)",
				 words->item[0]);
	buckets.kind = kind;
	status = kind == BUCKETS_FIXED ? parse_bucket_bounds(words, &buckets, error)
				       : parse_bucket_range(words, &buckets, error);
	if (status)
		buckets_done(&buckets);
	else
		*ret_buckets = buckets;
	return status;
}

uint32_t buckets_find(const struct buckets *buckets, uint64_t number)
{
	if (!buckets->bound)
		return number >= buckets->first && number - buckets->first <= buckets->count
			       ? (uint32_t)(number - buckets->first)
			       : BUCKETS_NONE;
	for (uint32_t i = 0; i < buckets->count; i++)
		if (buckets->bound[i] == number)
			return i;
	return number == buckets->bound[buckets->count - 1] + 1 ? buckets->count : BUCKETS_NONE;
}

double buckets_upper(const struct buckets *buckets, uint32_t i)
{
	uint64_t number = buckets->bound ? buckets->bound[i] : buckets->first + i;

	switch (buckets->kind) {
	case BUCKETS_EXP2:
		return exp2((double)number);
	case BUCKETS_EXP2ZERO:
		return number ? exp2((double)(number - 1)) : 0;
	default:
		return (double)number;
	}
}

double buckets_lower(const struct buckets *buckets, uint32_t i)
{
	return i ? buckets_upper(buckets, i - 1) : 0;
}

void buckets_done(struct buckets *buckets)
{
	free(buckets->bound);
	*buckets = (struct buckets){ .bound = NULL };
}
