/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_NAMING_H
#define EBPF_SYMBOLS_NAMING_H

#include <stddef.h>

#define NAMING_FUNCTION_MAX 255 /* bytes of one name: of a longer one "..." tells the rest */

/* The functions that code is of, demangled: the outermost first, with a NUL between them. */
struct naming {
	char *bytes;
	size_t size; /* 0: none is known */
};

/* Adds a function that is inlined in what is there, with a suffix. What finds no room below SYMBOL_NAMED_MAX, or no
 * memory, is left out. */
void naming_add(struct naming *naming, const char *name, size_t length, const char *suffix);

void naming_done(struct naming *namings, size_t count);

#endif
