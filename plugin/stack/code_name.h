/* SPDX-License-Identifier: MIT */
/*
 * Names of code that has a number.
 */
#ifndef EBPF_CODE_NAME_H
#define EBPF_CODE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_UNKNOWN 0     /* the number of code of which nothing is known: "[unknown]" */
#define CODE_NAME_MAX 1024 /* bytes, with inlined functions and the NUL */

struct codes;

/* Asks for the names of all code that has none yet. A file that cannot be read is logged once, and
 * its code remains unknown. Each file takes as long as symbol_name() at most. `between` (may be
 * NULL) is called before each file, for work that cannot wait; if it returns false, no more files
 * are asked. */
void codes_resolve(struct codes *codes, bool (*between)(void *with), void *with);

/* The name, as a part of a folded line: no blank at either end, no control characters, and a
 * semicolon only between a function and those inlined in it. "_[k]" follows a name of the kernel's.
 * Code without a symbol is "[FILE]" if its file is known, else "[unknown]". Valid until the next
 * call of codes_forget(). */
const char *codes_name(const struct codes *codes, uint32_t number);

#endif
