/* SPDX-License-Identifier: MIT */
/*
 * Texts that others have chosen, as UTF-8 without what could end a word or a line.
 */
#include "utf8.h"

#include <stdint.h>

size_t utf8_letter_length(const char *text)
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

void utf8_clean(char *to, size_t size, const char *text)
{
	size_t i = 0;

	while (*text) {
		size_t length = utf8_letter_length(text), end = i + (length ? length : 1);
		unsigned char c = (unsigned char)*text;

		if (end >= size)
			break;
		if (length == 0 || c == '/' || c == ' ' || c < 0x20 || c == 0x7f) {
			to[i++] = '_';
			text++;
		}
		while (i < end)
			to[i++] = *text++;
	}
	if (i == 0 && size > 1)
		to[i++] = '_';
	to[i] = '\0';
	for (i = 0; i < 2 && to[i] == '.'; i++)
		if (to[i + 1] == '\0')
			to[0] = '_';
}
