/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_INLINED_H
#define EBPF_SYMBOLS_INLINED_H

/* Inlined functions. */

#include "address.h"
#include "image.h"
#include "naming.h"

/* Was the program built with libdw? Without it inlined functions are unknown. */
extern const bool inlined_is_there;

/* Appends, to the names so far, the functions that are inlined at these addresses, by DWARF of the
 * separate file or of the file. Stops at a limit of CPU time; names found until then remain. */
void inlined_name(const struct image *image, const struct code_address *addresses, size_t count,
		  struct naming *namings);

/* Has the file, or the separate one, DWARF? */
bool inlined_has(const struct image *image);

#endif
