/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_DEMANGLE_H
#define EBPF_SYMBOLS_DEMANGLE_H

/* Names of C++ and Rust. */

#include <stdbool.h>

/* Was the program built with libiberty? Without it nothing is demangled. */
extern const bool demangle_is_there;

/* The name that a C++ or Rust function has in its source, for free(), with its parameters or
 * without; NULL: the name is not mangled. */
char *demangle(const char *name, bool parameters);

#endif
