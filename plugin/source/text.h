/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_H
#define EBPF_TEXT_H

#include "schema/file_tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of a text, without a NUL behind it. */
struct text_word {
	const char *at; /* NULL: the row has no such word */
	size_t length;
};

/* Gets a row: a word for each field. Parsing stops if it does not return 0. */
typedef int text_visitor(void *to, const struct text_word *words);

/* Calls `visit` for each row of a text of any bytes, in the order of its lines. With FORM_KEYS and
 * FORM_PAIRS the whole text is one row. count is at most TEXT_FIELDS_MAX. Returns what `visit`
 * returned last. */
int text_read(const struct file_tag *file, const struct field_tag *fields, size_t count,
	      const char *text, size_t size, text_visitor *visit, void *to);

/* Converts a word to a number; a negative one, which only a signed field may have, is in two's
 * complement. Surplus decimals are cut off. false: it is no number, or needs more than 64 bits. */
bool text_number(const struct text_word *word, const struct field_tag *field, bool is_signed,
		 uint64_t *ret_number);

/* Converts a word of a key: MAJOR:MINOR to the kernel's dev_t, otherwise the last digits, as
 * 7 of "CPU7". false: there are none. */
bool text_key_number(const struct text_word *word, uint64_t *ret_number);

#endif
