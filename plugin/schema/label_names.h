/* SPDX-License-Identifier: MIT */
/*
 * Names that labels look up outside of the key: the tables are of rooms above this one.
 */
#ifndef EBPF_LABEL_NAMES_H
#define EBPF_LABEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE_MINOR_BITS 20 /* MINORBITS of the kernel's dev_t */

enum label_table {
	LABEL_TABLE_NONE,
	LABEL_TABLE_USERS,
	LABEL_TABLE_CGROUPS,
	LABEL_TABLE_KSYMS,
	LABEL_TABLE_DEVICES,      /* by the kernel's dev_t, or by the kernel's name */
	LABEL_TABLE_STAT_DEVICES, /* by the dev_t of stat(2), or by the kernel's name */
};

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
	/* The same for a label that is a text. */
	enum name_state (*find_text)(void *tables, enum label_table table, const char *text,
				     char *to, size_t size);
	/* Another number than before: values that are named may have other names. */
	uint64_t (*generation)(void *tables, enum label_table table);
};

#endif
