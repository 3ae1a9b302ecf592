/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_RETURNS_H
#define EBPF_SYMBOLS_RETURNS_H

/* Instructions that return from a function. */

#include "helper/symbol_result.h"
#include "image.h"

/* Adds the instructions that return from the function at this address. Unless all of them are
 * found, none is added: the first location gets SYMBOL_NO_RETURNS, and the error says why. */
void returns_add(const struct image *image, uint64_t address, struct symbol_found *found);

#endif
