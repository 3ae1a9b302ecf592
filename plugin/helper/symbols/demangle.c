/* SPDX-License-Identifier: MIT */
/*
 * Demangles C++ and Rust (both of its schemes) with libiberty: the one demangler in C that knows
 * all of these, maintained and fuzzed with GCC and binutils. DMGL_NO_RECURSE_LIMIT is not set, so
 * its recursion is bounded.
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
