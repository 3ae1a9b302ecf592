/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_DEBUG_H
#define EBPF_SYMBOL_DEBUG_H

#include "symbol.h"

/* Opens the separate file of symbols that the distribution has for a build ID, in hexadecimal digits,
 * for symbol_close(). false: there is none. */
bool symbol_debug_open(struct file_reader *files, const char *build_id,
		       struct symbol_file *ret_file);

#endif
