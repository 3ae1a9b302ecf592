/* SPDX-License-Identifier: MIT */
/*
 * Names with wildcards. fnmatch(3) would interpret the backslash, and its time is the text's length
 * to the power of the number of stars.
 */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* The ] of a set that starts behind its [; NULL: there is none, and the [ stands for itself. */
static const char *set_end(const char *set)
{
	set += *set == '!';
	/* A ] that comes first is a member of the set. */
	return *set ? strchr(set + 1, ']') : NULL;
}

static bool is_in_set(const char *set, const char *end, unsigned char c)
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

/* Does one character match? Moves *glob behind the element that was compared. */
static bool match_one(const char **glob, char c)
{
	const char *at = *glob, *end = *at == '[' ? set_end(at + 1) : NULL;

	*glob = (end ? end : at) + 1;
	if (end)
		return is_in_set(at + 1, end, (unsigned char)c);
	return *at == '?' || *at == c;
}

bool glob_match(const char *glob, const char *text)
{
	const char *after_star = NULL, *retry = NULL;

	while (*text) {
		if (*glob == '*') {
			after_star = ++glob;
			retry = text;
		} else if (*glob && match_one(&glob, *text)) {
			text++;
		} else if (after_star) {
			/* The last star matches one more character. */
			glob = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
	return glob[strspn(glob, "*")] == '\0';
}

bool glob_is_whole(const char *glob)
{
	const char *end;

	for (; (glob = strchr(glob, '[')); glob = end + 1) {
		end = set_end(glob + 1);
		if (!end)
			return false;
	}
	return true;
}

bool glob_has_wildcard(const char *text)
{
	const char *bracket = strchr(text, '[');

	return strpbrk(text, "*?") || (bracket && set_end(bracket + 1));
}
