/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_UNWIND_H
#define EBPF_SYMBOLS_UNWIND_H

/* Ranges of functions, by .eh_frame. */

#include "image.h"

#include <stdbool.h>
#include <stdint.h>

/* The code that one entry of .eh_frame describes, by an address in it: a function, or a part of one
 * that the compiler has moved elsewhere. strip leaves that section, as exceptions need it. false:
 * no entry has the address, or the program was built without libdw. */
bool unwind_range(const struct image *image, uint64_t address, struct code_range *ret_range);

/* Is the stack at this address as at the entry of a function? For code that unwind_range()
 * knows. */
bool unwind_is_entry(const struct image *image, uint64_t address);

#endif
