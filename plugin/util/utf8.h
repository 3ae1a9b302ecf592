/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UTF8_H
#define EBPF_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 letter at the start of a text; 0: there is none. The two-byte control characters, which
 * some terminals obey, are no letters. */
size_t utf8_letter_length(const char *text);

/* Copies a text that others have chosen, so that it can be a word of a line and the name of a file: slashes, spaces,
 * control characters and bytes that are no UTF-8 become '_'. It is neither empty nor "." nor "..". */
void utf8_clean(char *to, size_t size, const char *text);

#endif
