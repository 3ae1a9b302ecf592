/* SPDX-License-Identifier: MIT */
/*
 * Finds names that the wanted one may have been meant to be: in another namespace, with a suffix of
 * the compiler (NAME.constprop.0), an instance of a template (NAME<int>), or a few letters away.
 */
#include "near.h"

#include <stdio.h>
#include <string.h>

/* Levenshtein's distance, or limit if it is that or more. */
static unsigned distance_of(const char *one, size_t one_length, const char *other,
			    size_t other_length, unsigned limit)
{
	unsigned row[NEAR_NAME_MAX + 1];

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

void near_begin(struct near *near, const char *wanted)
{
	*near = (struct near){ .wanted = wanted };
}

void near_offer(struct near *near, const char *name)
{
	size_t length = strlen(name), wanted = strlen(near->wanted), at;
	unsigned limit = 2 + (unsigned)wanted / 6, distance;

	if (length > NEAR_NAME_MAX || wanted > NEAR_NAME_MAX)
		return;
	if (near->count == NEAR_COUNT && near->distance[NEAR_COUNT - 1] < limit)
		limit = near->distance[NEAR_COUNT - 1];
	if (is_part(name, length, near->wanted, wanted))
		distance = 1;
	else if (length + limit <= wanted || wanted + limit <= length)
		return;
	else
		distance = distance_of(near->wanted, wanted, name, length, limit);
	if (distance >= limit)
		return;
	for (size_t i = 0; i < near->count; i++)
		if (strcmp(near->name[i], name) == 0)
			return;
	at = near->count < NEAR_COUNT ? near->count++ : NEAR_COUNT - 1;
	for (; at > 0 && near->distance[at - 1] > distance; at--) {
		near->distance[at] = near->distance[at - 1];
		memcpy(near->name[at], near->name[at - 1], sizeof(near->name[at]));
	}
	near->distance[at] = distance;
	memcpy(near->name[at], name, length + 1);
}

const char *near_text(const struct near *near, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < near->count; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\"%s\"",
					   i ? " or " : "; did you mean ", near->name[i]);
	if (near->count)
		snprintf(text + length, size - length, "?");
	return text;
}
