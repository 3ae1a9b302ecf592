/* SPDX-License-Identifier: MIT */
/*
 * What the parsers of all tags do with a word.
 */
#include "tag_word.h"

#include <string.h>

bool tag_word_is(const char *word, size_t length, const char *wanted)
{
	return length == strlen(wanted) && strncmp(word, wanted, length) == 0;
}

bool tag_word_copy(char *to, size_t size, const char *word, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, word, length);
	to[length] = '\0';
	return true;
}

bool tag_word_value(const char *word, size_t length, const char *prefix, char *to, size_t size)
{
	size_t skip = strlen(prefix);

	return length > skip && strncmp(word, prefix, skip) == 0 &&
	       tag_word_copy(to, size, word + skip, length - skip);
}
