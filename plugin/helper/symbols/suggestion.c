/* SPDX-License-Identifier: MIT */
/*
 * Finds names that the wanted one may have been meant to be: in another namespace, with a suffix of
 * the compiler (NAME.constprop.0), an instance of a template (NAME<int>), or a few letters away.
 */
#include "suggestion.h"

#include <stdio.h>
#include <string.h>

/* Levenshtein's distance, or limit if it is that or more. */
static unsigned distance_of(const char *one, size_t one_length, const char *other,
			    size_t other_length, unsigned limit)
{
	unsigned row[SUGGESTION_NAME_MAX + 1];

	for (size_t i = 0; i <= other_length; i++)
		row[i] = (unsigned)i;
	for (size_t i = 1; i <= one_length; i++) {
		unsigned corner = row[0], least = row[0] = (unsigned)i;

		for (size_t j = 1; j <= other_length; j++) {
			unsigned changed = corner + (one[i - 1] != other[j - 1]);

			corner = row[j];
			if (row[j - 1] + 1 < changed)
				changed = row[j - 1] + 1;
			row[j] = row[j] + 1 < changed ? row[j] + 1 : changed;
			least = row[j] < least ? row[j] : least;
		}
		if (least >= limit)
			return limit;
	}
	return row[other_length];
}

/* Is it the wanted name with something in front or behind? */
static int is_part(const char *name, size_t length, const char *wanted, size_t wanted_length)
{
	if (length <= wanted_length + 1)
		return 0;
	if (strchr(".<", name[wanted_length]) && memcmp(name, wanted, wanted_length) == 0)
		return 1;
	return memcmp(name + length - wanted_length, wanted, wanted_length) == 0 &&
	       strchr(":.", name[length - wanted_length - 1]) != NULL;
}

void suggestion_start(struct suggestion *suggestion, const char *wanted)
{
	*suggestion = (struct suggestion){ .wanted = wanted };
}

void suggestion_offer(struct suggestion *suggestion, const char *name)
{
	size_t length = strlen(name), wanted = strlen(suggestion->wanted), at;
	unsigned limit = 2 + (unsigned)wanted / 6, distance;

	if (length > SUGGESTION_NAME_MAX || wanted > SUGGESTION_NAME_MAX)
		return;
	if (suggestion->count == SUGGESTIONS_MAX &&
	    suggestion->distance[SUGGESTIONS_MAX - 1] < limit)
		limit = suggestion->distance[SUGGESTIONS_MAX - 1];
	if (is_part(name, length, suggestion->wanted, wanted))
		distance = 1;
	else if (length + limit <= wanted || wanted + limit <= length)
		return;
	else
		distance = distance_of(suggestion->wanted, wanted, name, length, limit);
	if (distance >= limit)
		return;
	for (size_t i = 0; i < suggestion->count; i++)
		if (strcmp(suggestion->name[i], name) == 0)
			return;
	at = suggestion->count < SUGGESTIONS_MAX ? suggestion->count++ : SUGGESTIONS_MAX - 1;
	for (; at > 0 && suggestion->distance[at - 1] > distance; at--) {
		suggestion->distance[at] = suggestion->distance[at - 1];
		memcpy(suggestion->name[at], suggestion->name[at - 1],
		       sizeof(suggestion->name[at]));
	}
	suggestion->distance[at] = distance;
	memcpy(suggestion->name[at], name, length + 1);
}

const char *suggestion_text(const struct suggestion *suggestion, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < suggestion->count; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\"%s\"",
					   i ? " or " : "; did you mean ", suggestion->name[i]);
	if (suggestion->count)
		snprintf(text + length, size - length, "?");
	return text;
}
