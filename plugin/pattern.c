/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of the configuration.
 */
#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 2000 /* in glibc some 32 MB, where each may be empty and reaches all others */
#define DEPTH_MAX 64

/* The greatest number of {N}, {N,} or {N,M}, at least 1. */
static unsigned long repetitions(const char *text)
{
	char *end;
	unsigned long low = strtoul(text, &end, 10), high = low;

	if (*end == ',')
		high = strtoul(end + 1, NULL, 10);
	low = low > high ? low : high;
	return low ? low : 1;
}

/* How many steps the expression has with its repetitions written out, more
 * than STEPS_MAX if there is an end to counting. What stands in brackets may
 * count for too much. */
static unsigned long steps(const char *text)
{
	unsigned long sum[DEPTH_MAX] = { 0 }, last[DEPTH_MAX] = { 0 };
	size_t depth = 0;

	for (; *text; text++) {
		if (*text == '{') {
			/* Its atom is in the sum once. */
			unsigned long more = last[depth] * (repetitions(text + 1) - 1);

			sum[depth] += more;
			last[depth] += more;
			text += strspn(text + 1, "0123456789,");
			text += text[1] == '}';
		} else if (*text == '(') {
			if (++depth == DEPTH_MAX)
				return STEPS_MAX + 1;
			sum[depth] = last[depth] = 0;
		} else if (*text == ')' && depth > 0) {
			depth--;
			last[depth] = sum[depth + 1];
			sum[depth] += last[depth];
		} else {
			text += *text == '\\' && text[1];
			last[depth] = 1;
			sum[depth]++;
		}
		if (sum[depth] > STEPS_MAX)
			return sum[depth];
	}
	return sum[0];
}

bool pattern_compile(const char *text, regex_t *ret_pattern, char *why, size_t size)
{
	size_t used;
	int status;

	if (steps(text) > STEPS_MAX) {
		snprintf(why, size, "repeats too much: more than %d steps", STEPS_MAX);
		return false;
	}
	status = regcomp(ret_pattern, text, REG_EXTENDED | REG_NOSUB);
	if (status == 0)
		return true;
	used = (size_t)snprintf(why, size, "not a regular expression: ");
	if (used < size)
		regerror(status, ret_pattern, why + used, size - used);
	return false;
}
