/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KIND_H
#define EBPF_KIND_H

#include "service/snapshot.h"
#include "table_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a subject's series: a plugin instance, and the labels in each type instance. */
struct series_name {
	char subject[SUBJECT_NAME_MAX];
	const char *labels; /* owned by the table; empty: none */
};

/* A kind of subject that rows of tables stand for. */
struct kind {
	/* The subject of a row; -1: none. NULL for keys, whose names are found while reading. */
	int (*resolve)(const struct snapshot *snapshot, uint32_t row);
	/* Writes the name of subject i of a table of this probe. */
	void (*name)(const struct table *table, const struct snapshot *snapshot, const char *probe,
		     size_t i, struct series_name *ret_name);
	/* Can its rows change owner, so that whoever reads them has to subscribe to changes? */
	bool (*follows)(const struct table *table);
};

/* The kind for service, process, probe or key. */
const struct kind *row_kind_of(enum subject_kind kind);

#endif
