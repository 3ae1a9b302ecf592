/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_FUNCTION_H
#define EBPF_SYMBOLS_FUNCTION_H

#include "helper/symbol_result.h"
#include "image.h"

/* Finds functions by the names that they have in the file, in their source, with parameters or, where
 * only one has it, without, or in Go's own table. Fills status, reason and places of each that is
 * SYMBOL_FUNCTION with a name. -ENOMEM. */
int functions_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		   struct symbol_found *found);

#endif
