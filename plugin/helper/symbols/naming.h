/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_NAMING_H
#define EBPF_SYMBOLS_NAMING_H

/* Names of code, as they are sent to the plugin. */

#include <stddef.h>

#define NAMING_FUNCTION_MAX 255 /* bytes of one name; a longer one ends in "..." */

/* The functions that code at one address is in, demangled: outermost first, with a NUL between
 * them. */
struct naming {
	char *bytes;
	size_t size; /* 0: unknown */
};

/* Appends a function that is inlined in the ones so far, with a suffix. It is left out if
 * SYMBOL_NAMED_MAX would be reached, or without memory. */
void naming_add(struct naming *naming, const char *name, size_t length, const char *suffix);

void naming_done(struct naming *namings, size_t count);

#endif
