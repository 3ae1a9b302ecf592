/* SPDX-License-Identifier: MIT */
/*
 * Names that labels look up outside of the key: the tables are of rooms above this one.
 */
#ifndef EBPF_LABEL_NAMES_H
#define EBPF_LABEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum label_table { LABEL_TABLE_NONE, LABEL_TABLE_USERS, LABEL_TABLE_CGROUPS, LABEL_TABLE_KSYMS };

enum name_state {
	NAME_NONE,
	NAME_FOUND,
	NAME_PENDING, /* requested: a later look-up finds it, or that there is none */
};

struct label_names {
	void *tables;
	/* A label names values by this table from now on. */
	void (*want)(void *tables, enum label_table table);
	/* Writes the name of a value, if it is found. Any thread; opens no file and never waits. */
	enum name_state (*find)(void *tables, enum label_table table, uint64_t value, char *to,
				size_t size);
};

#endif
