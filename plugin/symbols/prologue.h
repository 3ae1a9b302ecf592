/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_PROLOGUE_H
#define EBPF_SYMBOLS_PROLOGUE_H

#include "image.h"

/* How many bytes into a function of Go, which has this range, the check of its stack ends; 0: it has none. A
 * stack that is too small is made larger, and then the function begins once more. What a call is given is still where
 * it was, and so is the stack pointer. */
uint64_t prologue_size(const struct image *image, const struct range *range);

#endif
