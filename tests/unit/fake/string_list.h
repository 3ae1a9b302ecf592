/* SPDX-License-Identifier: MIT */
/*
 * Lists of strings as configurations have them.
 */
#ifndef FAKE_STRING_LIST_H
#define FAKE_STRING_LIST_H

#include "plugin/config/string_list.h"

/* The caller owns the words and the array. */
static inline struct strings strings_of(const char *const *words, size_t count)
{
	return (struct strings){ .item = (char **)words, .count = count };
}

/* STRINGS("a", "b"): a list of these words, valid until the end of the block. */
#define STRINGS(...)                                     \
	strings_of((const char *const[]){ __VA_ARGS__ }, \
		   sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

#endif
