/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_GO_H
#define EBPF_SYMBOLS_GO_H

#include "names.h"

/* Functions of Go by .gopclntab, the table for its own stack traces, which strip leaves: of Go 1.2
 * and newer. Calls `take` with each; false: there is none that is understood. */
bool go_each(const struct image *image, void (*take)(void *with, const struct name *name),
	     void *with);

/* Is code at this address a function of Go's, not one of C in a program of Go? Its end is 0 where the
 * table is not understood. */
bool go_has(const struct image *image, uint64_t address, struct range *ret_range);

#endif
