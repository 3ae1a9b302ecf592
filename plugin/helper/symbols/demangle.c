/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ and of Rust (both of its manglings), by libiberty: the one demangler in C that knows
 * all of these, kept and fuzzed with GCC and binutils. Its depth is bounded by DMGL_NO_RECURSE_LIMIT
 * not being set.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

#define MANGLED_MAX 4096

const bool demangle_is_there = true;

char *demangle(const char *name, bool parameters)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	return cplus_demangle(name, DMGL_AUTO | (parameters ? DMGL_PARAMS | DMGL_ANSI : 0));
}
