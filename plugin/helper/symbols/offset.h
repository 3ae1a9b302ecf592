/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_OFFSET_H
#define EBPF_SYMBOLS_OFFSET_H

/* Names of code at offsets. */

#include "image.h"
#include "naming.h"

/* Names the code at these offsets of the file, each for naming_done(), and inlined functions there
 * if wants_inlined. -ENOMEM: nothing is named. */
int offsets_name(const struct image *image, const uint64_t *offsets, size_t count,
		 bool wants_inlined, struct naming *ret_namings);

/* May a separate file of symbols name more? */
bool offsets_want_debug(const struct image *image);

#endif
