/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KIND_H
#define EBPF_KIND_H

#include "service/snapshot.h"
#include "table_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What series of a subject are called: a plugin instance, and the end of each type instance. */
struct series_name {
	char subject[SUBJECT_NAME_MAX];
	const char *labels; /* of the table; empty: none */
};

/* A kind of subject that rows of tables stand for. */
struct kind {
	/* The subject of a row, -1: nobody's; of keys NULL: names are found as they come. */
	int (*resolve)(const struct snapshot *snapshot, uint32_t row);
	/* Of subject i of a table of this probe. */
	void (*name)(const struct table *table, const struct snapshot *snapshot, const char *probe,
		     size_t i, struct series_name *ret_name);
	/* Are its rows given to others, so that who reads them is a subscriber? */
	bool (*follows)(const struct table *table);
};

/* Of tables: service, process, probe and key. */
const struct kind *kind_of(enum subject_kind kind);

#endif
