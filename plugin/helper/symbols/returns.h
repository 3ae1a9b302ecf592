/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_RETURNS_H
#define EBPF_SYMBOLS_RETURNS_H

#include "helper/symbol_result.h"
#include "image.h"

/* Adds to a function, which begins at this address, the instructions that return from it. Where not all of
 * them are found, none is added: its first place has SYMBOL_NO_RETURNS, and the error says why. */
void returns_add(const struct image *image, uint64_t address, struct symbol_found *found);

#endif
