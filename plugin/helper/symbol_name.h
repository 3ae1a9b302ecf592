/* SPDX-License-Identifier: MIT */
/*
 * Names of code, for stacks.
 */
#ifndef EBPF_SYMBOL_NAME_H
#define EBPF_SYMBOL_NAME_H

#include "symbol_file.h"
#include "symbol_result.h"

/* Names the functions, demangled, at these offsets of a program or library, SYMBOL_OFFSETS_MAX
 * at most. An offset behind a call may already be that of the next function: the caller asks for
 * the offset before it. ebpf-symbols reads symbol tables, .gnu_debugdata, Go's own table, a
 * separate file of the same build ID where there is one, and DWARF for inlined functions.
 * Returns 0, for symbol_names_done(), or a negative errno, and the error says why; -ENOEXEC: it
 * is no program of this machine. ret_build_id (may be NULL): the file's, padded with zeros; all
 * zeros: it has none. */
int symbol_name(struct file_helper *files, const struct symbol_file *file, const uint64_t *offsets,
		size_t count, struct symbol_names *ret_names, uint8_t ret_build_id[20],
		struct error *error);

/* The same for addresses of code that a program has generated at run time, by the map that it
 * writes for perf, perf-PID.map. -ENOEXEC: the file has no line of such a map. */
int symbol_name_made(struct file_helper *files, const struct symbol_file *map,
		     const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
		     struct error *error);

#endif
