/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_INLINED_H
#define EBPF_SYMBOLS_INLINED_H

#include "address.h"
#include "image.h"
#include "naming.h"

/* Was this built with libdw? Otherwise nothing is known of inlined functions. */
extern const bool inlined_is_there;

/* Adds, to what is named already, the functions that are inlined at these addresses, by DWARF of the
 * separate file or of the file. Has an end where that is too much: what is named until then remains. */
void inlined_name(const struct image *image, const struct address *addresses, size_t count,
		  struct naming *namings);

/* Has the file, or the separate one, such data? */
bool inlined_has(const struct image *image);

#endif
