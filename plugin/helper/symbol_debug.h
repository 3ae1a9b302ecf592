/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_DEBUG_H
#define EBPF_SYMBOL_DEBUG_H

/* Separate files of symbols, as distributions ship them. */

#include "symbol_file.h"
#include "symbol_reply.h"

#define SYMBOL_DEBUG_PATH_MAX (64 + 2 * SYMBOL_BUILD_ID_MAX)

/* Opens the separate file of symbols for a build ID, for symbol_close(). Errors of symbol_open();
 * -ENOENT: there is none. */
int symbol_debug_open(struct file_helper *files, const struct symbol_about *about,
		      struct symbol_file *ret_file, char ret_path[SYMBOL_DEBUG_PATH_MAX],
		      struct error *error);

#endif
