/* SPDX-License-Identifier: MIT */
/*
 * Names as series have them.
 */
#include "name.h"

#include <stdint.h>
#include <string.h>

/* The length of the UTF-8 letter at the start of a text; 0: there is none. The two-byte control characters, which
 * some terminals obey, are no letters. */
static size_t utf8_letter_length(const char *text)
{
	static const unsigned char lengths[16] = { 1, 1, 1, 1, 1, 1, 1, 1, [12] = 2, 2, 3, 4 };
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t length = lengths[at[0] >> 4];
	uint32_t code = at[0] & (0xff >> length);

	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code < least[length] || code > 0x10ffff || code >> 11 == 0x1b ? 0 : length;
}

/* A single name that is no UTF-8 would make Prometheus refuse all series of the machine. */
void name_clean(char *to, size_t size, const char *name)
{
	size_t i = 0;

	while (*name) {
		size_t length = utf8_letter_length(name), end = i + (length ? length : 1);
		unsigned char c = (unsigned char)*name;

		if (end >= size)
			break;
		if (length == 0 || c == '/' || c == ' ' || c < 0x20 || c == 0x7f) {
			to[i++] = '_';
			name++;
		}
		while (i < end)
			to[i++] = *name++;
	}
	if (i == 0 && size > 1)
		to[i++] = '_';
	to[i] = '\0';
	/* Neither "." nor "..". */
	for (i = 0; i < 2 && to[i] == '.'; i++)
		if (to[i + 1] == '\0')
			to[0] = '_';
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
