/* SPDX-License-Identifier: MIT */
/*
 * Names that labels look up outside of the key: the tables are of rooms above this one.
 */
#ifndef EBPF_LABEL_NAMES_H
#define EBPF_LABEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum label_table { LABEL_TABLE_NONE, LABEL_TABLE_USERS, LABEL_TABLE_CGROUPS, LABEL_TABLE_KSYMS };

struct label_names {
	void *tables;
	/* A label names values by this table from now on. */
	void (*want)(void *tables, enum label_table table);
	/* Writes the name of a value; false: it is unknown. Any thread; never waits. */
	bool (*find)(void *tables, enum label_table table, uint64_t value, char *to, size_t size);
};

#endif
