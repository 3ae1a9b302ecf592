/* SPDX-License-Identifier: MIT */
/*
 * Names with wildcards. fnmatch(3) takes the backslash for its own, and a time that grows with the power
 * of the number of stars.
 */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* The end of a set that begins behind its bracket, or NULL: then the bracket stands for itself. */
static const char *set_end(const char *set)
{
	set += *set == '!';
	/* The first may be the bracket itself. */
	return *set ? strchr(set + 1, ']') : NULL;
}

static bool in_set(const char *set, const char *end, unsigned char c)
{
	bool negated = *set == '!', found = false;

	for (set += negated; set < end; set++) {
		unsigned char first = (unsigned char)*set, last = first;

		if (set[1] == '-' && set + 2 < end) {
			set += 2;
			last = (unsigned char)*set;
		}
		found |= first <= c && c <= last;
	}
	return found != negated;
}

/* Fits one character? *pattern moves behind what stands for it. */
static bool match_one(const char **pattern, char c)
{
	const char *at = *pattern, *end = *at == '[' ? set_end(at + 1) : NULL;

	*pattern = (end ? end : at) + 1;
	if (end)
		return in_set(at + 1, end, (unsigned char)c);
	return *at == '?' || *at == c;
}

bool glob_match(const char *pattern, const char *text)
{
	const char *after_star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
		} else if (*pattern && match_one(&pattern, *text)) {
			text++;
		} else if (after_star) {
			/* The last star stands for one character more. */
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

bool glob_is_whole(const char *pattern)
{
	const char *end;

	for (; (pattern = strchr(pattern, '[')); pattern = end + 1) {
		end = set_end(pattern + 1);
		if (!end)
			return false;
	}
	return true;
}

bool glob_is_pattern(const char *text)
{
	const char *bracket = strchr(text, '[');

	return strpbrk(text, "*?") || (bracket && set_end(bracket + 1));
}
