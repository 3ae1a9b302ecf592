/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_PROLOGUE_H
#define EBPF_SYMBOLS_PROLOGUE_H

/* The stack check of Go functions. */

#include "image.h"

/* The size of the stack check at the start of a Go function with this range; 0: there is none. If
 * the stack is too small, it is enlarged, and the function starts again from the check. Behind the
 * check the arguments and the stack pointer are as at the entry. */
uint64_t prologue_size(const struct image *image, const struct code_range *range);

#endif
