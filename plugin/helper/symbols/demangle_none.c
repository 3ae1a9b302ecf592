/* SPDX-License-Identifier: MIT */
/*
 * The demangler of a build without libiberty.
 */
#include "demangle.h"

#include <stddef.h>

const bool demangle_is_there = false;

char *demangle(const char *name, bool parameters)
{
	(void)name;
	(void)parameters;
	return NULL;
}
