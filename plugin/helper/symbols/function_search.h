/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_FUNCTION_SEARCH_H
#define EBPF_SYMBOLS_FUNCTION_SEARCH_H

/* Functions by name. */

#include "helper/symbol_result.h"
#include "image.h"

/* Finds functions by their name in the file, by their name in the source, with parameters or, if
 * only one function has that name, without, or by their name in Go's table. Fills in the result of
 * each wanted SYMBOL_FUNCTION with a name. -ENOMEM. */
int functions_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		   struct symbol_found *found);

#endif
