/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_NAME_H
#define EBPF_SYMBOL_NAME_H

#include "symbol.h"

/* Names of code, for stacks. */

#define SYMBOL_OFFSETS_MAX 4096 /* at once */

/* What was found, in the order of what was asked. */
struct symbol_names {
	char *bytes; /* all texts, with a NUL behind each */
	const char **
		name; /* NULL: none; else with functions that are inlined there behind it, outermost first, ";" between them */
	size_t count;
};

/* The functions at these offsets of a program or library, demangled. An offset behind a call may be that of the
 * next function: the caller asks for the one before. Tables of symbols in the file, .gnu_debugdata,
 * Go's own, a separate file of the same build ID where there is one, and inlined functions where
 * DWARF tells, by the program ebpf-symbols as symbol_find() has it. Returns 0, for symbol_names_done(), or a negative errno,
 * and the error says why; -ENOEXEC: it is no program of this machine. ret_build_id (may be NULL): the
 * file's, with zeros behind; all zeros: it has none. */
int symbol_name(struct file_reader *files, const struct symbol_file *file, const uint64_t *offsets,
		size_t count, struct symbol_names *ret_names, uint8_t ret_build_id[20],
		struct error *error);

/* The same for addresses of code that a program has made while it ran, by the map that it keeps
 * for perf, perf-PID.map. -ENOEXEC: there is no line of such a map in it. */
int symbol_name_made(struct file_reader *files, const struct symbol_file *map,
		     const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
		     struct error *error);

void symbol_names_done(struct symbol_names *names);

#endif
