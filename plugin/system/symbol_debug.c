/* SPDX-License-Identifier: MIT */
/*
 * Where the distribution has put the symbols that it has taken from a file.
 */
#include "symbol_debug.h"

#include "symbol_message.h"

#include <stdio.h>
#include <string.h>

#define DEBUG_DIRECTORY "/usr/lib/debug/.build-id"

bool symbol_debug_open(struct file_reader *files, const char *build_id,
		       struct symbol_file *ret_file)
{
	char path[sizeof(DEBUG_DIRECTORY) + 2 * SYMBOL_BUILD_ID_MAX + 16];
	struct error ignored;

	if (strlen(build_id) < 4)
		return false;
	snprintf(path, sizeof(path), DEBUG_DIRECTORY "/%.2s/%s.debug", build_id, build_id + 2);
	return symbol_open(files, path, 0, ret_file, &ignored) == 0;
}
