/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_GO_H
#define EBPF_SYMBOLS_GO_H

/* Functions of Go. */

#include "symbol_table.h"

/* Calls `visit` with each function in .gopclntab, the table for Go's own stack traces, which strip
 * leaves: of Go 1.2 and newer. false: there is no table, or of an unknown format. */
bool go_each(const struct image *image, void (*visit)(void *with, const struct name *name),
	     void *with);

/* Is the code at this address of a Go function, not of C code in a Go program? The range's end is 0
 * if the table has an unknown format. */
bool go_has(const struct image *image, uint64_t address, struct code_range *ret_range);

#endif
