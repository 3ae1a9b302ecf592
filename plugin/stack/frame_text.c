/* SPDX-License-Identifier: MIT */
/*
 * Lines of folded files from records with names instead of frames. Anybody may have chosen the
 * names.
 */
#include "frame_text.h"

#include "util/utf8.h"

#include <stdbool.h>
#include <string.h>

#define NAME_SIZE_MAX 256

static void clean_frame_name(char *to, const char *name, size_t length)
{
	char whole[NAME_SIZE_MAX];

	if (length >= sizeof(whole))
		length = sizeof(whole) - 1;
	memcpy(whole, name, length);
	whole[length] = '\0';
	utf8_clean(to, NAME_SIZE_MAX, whole);
	for (; *to; to++)
		if (*to == ';')
			*to = '_';
}

/* Puts a name in front of the text that starts at `at`. Returns where it starts now; `at`: there
 * was no room. */
static size_t prepend_name(char *to, size_t at, bool is_last, const char *name, size_t length)
{
	char part[NAME_SIZE_MAX];
	size_t added;

	clean_frame_name(part, name, length);
	added = strlen(part) + !is_last;
	if (added > at)
		return at;
	memcpy(to + at - added, part, strlen(part));
	if (!is_last)
		to[at - 1] = ';';
	return at - added;
}

void frame_text(const char *text, size_t length, char *to, size_t size)
{
	size_t end = size - 1, at = end;

	for (size_t i = 0; i < length;) {
		size_t name = strnlen(text + i, length - i), before = at;

		at = prepend_name(to, at, at == end, text + i, name);
		if (at == before)
			break;
		i += name + 1;
	}
	if (at == end)
		at = prepend_name(to, at, true, "[unknown]", strlen("[unknown]"));
	memmove(to, to + at, end - at);
	to[end - at] = '\0';
}
