/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_PROLOGUE_H
#define EBPF_SYMBOLS_PROLOGUE_H

#include "image.h"

/* How many bytes into a function of Go, which has this range, the check of its stack ends; 0: it has
 * none. If the stack is too small, it is made larger, and the function starts again. Behind the check
 * the arguments and the stack pointer are as at the entry. */
uint64_t prologue_size(const struct image *image, const struct range *range);

#endif
