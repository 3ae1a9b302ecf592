/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_MARKER_H
#define EBPF_SYMBOLS_MARKER_H

#include "helper/symbol_result.h"
#include "image.h"

/* Finds all places of a marker (USDT) by PROVIDER:NAME, as sys/sdt.h leaves them in notes. Fills
 * status, reason and places. */
void marker_find(const struct image *image, const struct symbol_wanted *wanted,
		 struct symbol_found *ret_found);

#endif
