/* SPDX-License-Identifier: MIT */
/*
 * Finds the separate file of symbols, which distributions install by build ID.
 */
#include "symbol_debug.h"

#include <errno.h>
#include <stdio.h>

#define DEBUG_DIRECTORY "/usr/lib/debug/.build-id"

int symbol_debug_open(struct file_helper *files, const struct symbol_about *about,
		      struct symbol_file *ret_file, char ret_path[SYMBOL_DEBUG_PATH_MAX],
		      struct error *error)
{
	char build_id[2 * SYMBOL_BUILD_ID_MAX + 1] = "";

	if (about->build_id_size < 2)
		return error_set(error, -ENOENT, "it has no build ID");
	for (size_t i = 0; i < about->build_id_size; i++)
		snprintf(build_id + 2 * i, 3, "%02x", about->build_id[i]);
	snprintf(ret_path, SYMBOL_DEBUG_PATH_MAX, DEBUG_DIRECTORY "/%.2s/%s.debug", build_id,
		 build_id + 2);
	return symbol_open(files, ret_path, 0, ret_file, error);
}
