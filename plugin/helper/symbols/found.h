/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_FOUND_H
#define EBPF_SYMBOLS_FOUND_H

#include "helper/symbol_result.h"

/* What is found of one name. */

void found_refuse(struct symbol_found *found, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes the place, and its arguments with it. */
void found_add(struct symbol_found *found, struct symbol_place place);

/* Of a symbol_found that has been filled so. */
void found_done(struct symbol_found *found);

#endif
