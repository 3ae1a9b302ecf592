/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_UNWIND_H
#define EBPF_SYMBOLS_UNWIND_H

#include "image.h"

#include <stdbool.h>
#include <stdint.h>

/* The code that one entry of .eh_frame is about, by an address in it: a function, or the part of one
 * that the compiler has put elsewhere. strip leaves that section, as exceptions need it. false: none
 * is known, or this was built without libdw. */
bool unwind_range(const struct image *image, uint64_t address, struct range *ret_range);

/* Is the stack there as where a function is entered? Of code that unwind_range() knows. */
bool unwind_is_entry(const struct image *image, uint64_t address);

#endif
