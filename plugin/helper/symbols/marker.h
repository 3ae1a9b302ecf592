/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_MARKER_H
#define EBPF_SYMBOLS_MARKER_H

/* Markers (USDT). */

#include "helper/symbol_result.h"
#include "image.h"

/* Finds all locations of a marker by PROVIDER:NAME, in the notes that sys/sdt.h leaves. Fills in
 * the result. */
void marker_find(const struct image *image, const struct symbol_wanted *wanted,
		 struct symbol_found *ret_found);

#endif
