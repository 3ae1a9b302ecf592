/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_H
#define EBPF_TEXT_H

#include "schema/file_tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of a text, without a NUL behind it. */
struct text_word {
	const char *at; /* NULL: there is none */
	size_t length;
};

/* Takes a row, a word for each field; what is not 0 ends the reading. */
typedef int text_taker(void *to, const struct text_word *words);

/* Gives each row of a text, of any bytes, in the order of its lines: with keys and pairs one, of the
 * whole text. count is at most TEXT_FIELDS_MAX. What `take` has returned. */
int text_read(const struct file_tag *file, const struct field_tag *fields, size_t count,
	      const char *text, size_t size, text_taker *take, void *to);

/* The number that a word is. With a sign it is in two's complement, and only if it may have one;
 * false: it is none, or needs more than 64 bits. Digits behind the point that are not wanted are
 * left out. */
bool text_number(const struct text_word *word, const struct field_tag *field, bool is_signed,
		 uint64_t *ret_number);

/* The number that a word of a key is: MAJOR:MINOR as the kernel's dev_t, else the digits that it ends
 * with, as 7 of "CPU7". false: there are none. */
bool text_key_number(const struct text_word *word, uint64_t *ret_number);

#endif
