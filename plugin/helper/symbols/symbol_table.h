/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_SYMBOL_TABLE_H
#define EBPF_SYMBOLS_SYMBOL_TABLE_H

/* Symbol tables. */

#include "image.h"

/* A function in a symbol table. */
struct name {
	const char *text;
	size_t length; /* without @VERSION */
	uint64_t address, size;
	unsigned rank;  /* the highest counts if several have one name: 1: of an old version; 2:
			 * local; 3: weak; 4: global; 0: of another file, which this one only
			 * calls */
	bool is_chosen; /* the program chooses the code when it starts (IFUNC) */
};

enum symbol_table {
	SYMBOL_TABLE_STATIC, /* .symtab */
	SYMBOL_TABLE_DEBUG,  /* of the separate file */
	SYMBOL_TABLE_DYNAMIC,
	SYMBOL_TABLE_MINI,
	SYMBOL_TABLES,
};

/* Is there such a table? */
bool symbol_table_has(const struct image *image, enum symbol_table which);

/* Calls `visit` with each function of a table; false: there is no such table. */
bool symbol_table_each(const struct image *image, enum symbol_table which,
		       void (*visit)(void *with, const struct name *name), void *with);

#endif
