/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers from INT64_MIN to UINT64_MAX, which no type of C covers.
 */
#include "number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DOUBLE_MAX 0x1p53 /* a double has every whole number up to here */

bool number_parse(const char *text, struct number *ret_number, const char **ret_end)
{
	bool negative = *text == '-';
	const char *digits = text + negative;
	uint64_t magnitude;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	magnitude = strtoull(digits, &end, digits[0] == '0' && digits[1] == 'x' ? 16 : 10);
	/* strtoull() would parse "0x" as 0. */
	if (errno || *end == 'x')
		return false;
	*ret_number = (struct number){ .negative = negative && magnitude, .magnitude = magnitude };
	*ret_end = end;
	return true;
}

bool number_of_double(double n, struct number *ret_number)
{
	if (!(fabs(n) <= DOUBLE_MAX) || n != floor(n))
		return false;
	*ret_number = (struct number){ .negative = n < 0, .magnitude = (uint64_t)fabs(n) };
	return true;
}

int number_compare(struct number a, struct number b)
{
	bool less;

	if (a.negative != b.negative)
		return a.negative ? -1 : 1;
	if (a.magnitude == b.magnitude)
		return 0;
	less = (a.magnitude < b.magnitude) != a.negative;
	return less ? -1 : 1;
}

struct number number_least(size_t size, bool is_signed)
{
	return (struct number){ .negative = is_signed,
				.magnitude = is_signed ? 1ULL << (8 * size - 1) : 0 };
}

struct number number_greatest(size_t size, bool is_signed)
{
	return (struct number){ .magnitude = UINT64_MAX >> (64 - 8 * size + is_signed) };
}

const char *number_text(struct number number, char text[NUMBER_TEXT_MAX])
{
	snprintf(text, NUMBER_TEXT_MAX, "%s%" PRIu64, number.negative ? "-" : "", number.magnitude);
	return text;
}
