/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_SEARCH_H
#define EBPF_SYMBOLS_SEARCH_H

/* Locations of functions, markers and offsets. */

#include "helper/symbol_result.h"
#include "image.h"

/* Finds all of them. Each of ret_found is filled, for found_done(). -ENOMEM: none is. */
int symbols_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		 struct symbol_found *ret_found);

#endif
