/* SPDX-License-Identifier: MIT */
/*
 * Names as series have them. Anybody may have chosen them, and each receiver has characters of its own: ';' starts
 * tags in Graphite, '*' and '{' are wildcards of its queries, and invisible letters make names that look the same.
 * Prometheus would refuse all series of the machine for a single name that is no UTF-8.
 */
#include "name.h"

#include "helper/file.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

static bool is_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-.@:+", c));
}

size_t name_clean(char *to, size_t size, const char *name)
{
	size_t length = 0, room = size - 1;

	for (; *name; length++) {
		if (length < room)
			to[length] = is_name_letter(*name) ? *name : '_';
		name += utf8_letter_length(name) ?: 1;
	}
	if (length == 0 && room > 0)
		to[length++] = '_';
	to[length < room ? length : room] = '\0';
	if (!strcmp(to, ".") || !strcmp(to, ".."))
		to[0] = '_';
	return length;
}

void name_append_hash(char *name, size_t size, uint64_t origin, unsigned attempt)
{
	size_t length = strlen(name), most = size - 1 - NAME_SUFFIX_LENGTH;

	length = length < most ? length : most;
	snprintf(name + length, size - length, "+%08x", (unsigned)origin + attempt);
}

void name_attempt(char *to, size_t size, const char *name, unsigned attempt)
{
	if (name_clean(to, size, name) >= size || attempt > 0)
		name_append_hash(to, size, file_number(name), attempt);
}

char name_fold(char c)
{
	return c == '.' ? '_' : c;
}

bool name_is_same(const char *a, const char *b)
{
	for (; *a && name_fold(*a) == name_fold(*b); a++)
		b++;
	return *a == *b;
}

bool name_is_reserved(const char *name)
{
	static const char *const names[] = { "other", "kernel", "self" };
	size_t length = strlen(name);

	while (length && name[length - 1] == '_')
		length--;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (length == strlen(names[i]) && !strncmp(name, names[i], length))
			return true;
	return false;
}

void name_escape(char *to, size_t size, const char *name)
{
	const char *end = to + size;

	for (; *name; name++) {
		bool prints = *name >= ' ' && *name < 0x7f && *name != '\\' && *name != '"';

		if (end - to <= (prints ? 1 : 4))
			break;
		to += snprintf(to, (size_t)(end - to), prints ? "%c" : "\\x%02x",
			       (unsigned char)*name);
	}
	*to = '\0';
}
