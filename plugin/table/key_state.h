/* SPDX-License-Identifier: MIT */
/* What is known of the keys of a table and of their names. */
#ifndef EBPF_KEY_STATE_H
#define EBPF_KEY_STATE_H

#include "schema/label.h"
#include "schema/label_choice.h"
#include "schema/subject_kind.h"
#include "util/allowance.h"
#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_rows;

#define KEY_NAME_TEXT_MAX (SUBJECT_NAME_MAX + LABELS_TEXT_MAX) /* SUBJECT/LABELS */

/* The name of series of a table of keys: a plugin instance and the labels in a type instance. Keys
 * with the same texts are summed. */
struct key_name {
	char subject[SUBJECT_NAME_MAX];         /* empty: the probe */
	char labels[LABELS_TEXT_MAX];           /* empty: none */
	uint64_t subject_origin, labels_origin; /* hashes of the texts that these were made of */
	uint64_t generation; /* changes when the entry is used for another name; 0: free */
	uint64_t growth;     /* of the ranking column since the last reading */
	double score;        /* growth, averaged with more weight on recent readings */
	uint32_t seen;       /* the last reading that had a key with this name */
	uint32_t shown_at;   /* the reading at which it got its series */
	uint32_t attempt;    /* to find texts that no other has */
	uint16_t group;      /* index in keys.groups: the names that compete with it */
	bool is_exact : 1;   /* receivers have its texts unchanged */
	bool has_subject_hash : 1, has_labels_hash : 1;
	bool is_other : 1;        /* it is an "other" name, for names without series */
	bool is_always_shown : 1; /* it always has series */
	bool is_shown : 1;
	bool was_shown : 1; /* it has already used its allowance for a new name */
};

/* A key that was read, and the cells of its row. */
struct key_entry {
	uint32_t name; /* number of its name; UINT32_MAX: it has counted nothing yet */
	int cpu;
	uint64_t named;      /* generation of that name */
	int subject;         /* subject of its service when it was named; -1: none */
	uint32_t row;        /* row of the service when last read; 0 (which never changes): none */
	uint64_t generation; /* of that subject */
	uint32_t names;      /* generation of its labels' names */
	bool is_left_out;    /* a Label line of the Probe block excludes it */
	uint64_t seen;
	unsigned char *key;
	uint64_t *previous; /* cells */
};

/* Names that compete for series: those of one function, or all names of the table. */
struct key_group {
	uint32_t shown; /* names with series now, without those that always have some */
	struct allowance new_series; /* new names that may get series */
	bool is_settled;             /* at this reading nothing can change in it any more */
	bool has_other, other_reported;
};

/* All keys of a table, and their names. */
struct keys {
	struct key_entry *entry;
	size_t entry_count, entry_max;
	struct key_name *name;
	size_t name_count, name_max, name_free;
	struct index by_key, by_origin;
	struct label_choice choice;
	const struct cgroup_rows *cgroup_rows; /* for labels that are numbers of cgroups */
	uint64_t generation;
	uint64_t readings;
	uint32_t shown_max; /* names of a group that can have series */
	struct key_group *groups;
	size_t group_count;
	uint32_t shown, other;         /* names with and without series now */
	uint64_t growth, growth_other; /* since the last reading: all, without series */
	double other_percent; /* their part of the last reading's growth; NAN: nothing has grown */
	uint64_t *now;        /* cells of the row that is being read */
	bool starting;
	size_t rows;  /* of the last reading */
	bool is_full; /* a key found no room, so it is not counted */
	bool full_reported, filled_reported;
	bool is_any_alike, alike_reported;
	char alike[2][KEY_NAME_TEXT_MAX]; /* a name that two keys would have, and what one has */
};

#endif
