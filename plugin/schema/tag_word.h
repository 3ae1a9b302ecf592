/* SPDX-License-Identifier: MIT */
/* Words of a tag's text, which are not terminated by a NUL. */
#ifndef EBPF_TAG_WORD_H
#define EBPF_TAG_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* Is the word of this length this one? */
bool tag_word_is(const char *word, size_t length, const char *wanted);

/* Copies a word into a buffer of `size` bytes. False: it does not fit. */
bool tag_word_copy(char *to, size_t size, const char *word, size_t length);

/* Parses NAME=VALUE, where prefix is "NAME=" and the value has at least one byte. */
bool tag_word_value(const char *word, size_t length, const char *prefix, char *to, size_t size);

#endif
