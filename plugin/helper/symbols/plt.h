/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_PLT_H
#define EBPF_SYMBOLS_PLT_H

/* Procedure linkage tables. */

#include "address.h"
#include "image.h"
#include "naming.h"

/* Names those of these addresses that have no name yet and are in a procedure linkage table, by the
 * function that it calls: "read@plt". -ENOMEM. */
int plt_name(const struct image *image, const struct code_address *addresses, size_t count,
	     struct naming *namings);

/* Is the code at this address in such a table? */
bool plt_has(const struct image *image, uint64_t address);

#endif
