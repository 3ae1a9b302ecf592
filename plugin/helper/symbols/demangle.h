/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_DEMANGLE_H
#define EBPF_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

/* Was this built with libiberty? Otherwise nothing is demangled. */
extern const bool demangle_is_there;

/* The name that a function of C++ or Rust has in its source, for free(), with its parameters or
 * without; NULL: it is no mangled name. */
char *demangle(const char *name, bool parameters);

#endif
