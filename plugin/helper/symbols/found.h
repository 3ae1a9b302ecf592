/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_FOUND_H
#define EBPF_SYMBOLS_FOUND_H

/* Filling in the result for one name. */

#include "helper/symbol_result.h"

/* Replaces all locations by an error. */

void found_refuse(struct symbol_found *found, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a location, and owns its arguments from here on. */
void found_add(struct symbol_found *found, struct symbol_location location);

/* Frees what these functions have filled in. */
void found_done(struct symbol_found *found);

#endif
