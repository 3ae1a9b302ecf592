/* SPDX-License-Identifier: MIT */
#ifndef CHOICES_H
#define CHOICES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* The fuzzer's input as a list of choices, of which something is made that is valid in most
 * parts. */

struct choices {
	const uint8_t *at, *end;
};

/* Returns 0 when the input is used up. */
static inline unsigned choose(struct choices *choices, unsigned count)
{
	return choices->at < choices->end ? *choices->at++ % count : 0;
}

static inline uint32_t choose_number(struct choices *choices)
{
	uint32_t n = choose(choices, 256);

	n |= choose(choices, 256) << 8;
	n |= choose(choices, 256) << 16;
	return n | choose(choices, 256) << 24;
}

/* Appends 0 to 63 bytes of the input as they are. */
static inline void add_bytes(struct choices *choices, char *text, size_t size)
{
	size_t length = strlen(text), count = choose(choices, 64);

	while (count-- && length + 1 < size && choices->at < choices->end)
		text[length++] = (char)*choices->at++;
	text[length] = '\0';
}

static inline void add_text(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", more);
}

/* Appends 0 to 15 of the words, few in most cases. */
static inline void add_words(struct choices *choices, char *text, size_t size,
			     const char *const *words, unsigned count)
{
	for (unsigned i = choose(choices, 16) / 4; i; i--) {
		unsigned word = choose(choices, count + 1);

		add_text(text, size, " ");
		if (word < count)
			add_text(text, size, words[word]);
		else
			add_bytes(choices, text, size);
	}
}

#endif
