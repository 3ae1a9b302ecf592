/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STRING_LIST_H
#define EBPF_STRING_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Owns its strings. */
struct strings {
	char **item;
	size_t count;
};

/* Is the text in the list? */
bool strings_have(const struct strings *list, const char *text);

/* Removes the strings from index `count` on. */
void strings_cut(struct strings *list, size_t count);
void strings_done(struct strings *list);

#endif
