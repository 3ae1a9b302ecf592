/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEYS_H
#define EBPF_KEYS_H

#include "schema/label.h"
#include "schema/label_choice.h"
#include "service/subject.h"
#include "source/source.h"
#include "util/allowance.h"
#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_rows;
struct snapshot;
struct table;

/* What series of a table of keys are about: a plugin instance and the end of a type instance. Several
 * keys may have one name, and then add up. */
struct key_name {
	char subject[SUBJECT_NAME_MAX]; /* empty: the probe */
	char labels[LABELS_TEXT_MAX];   /* empty: none */
	uint64_t generation;            /* another name in its place, another generation; 0: free */
	uint64_t seen;                  /* at which reading a key of it was last there */
	uint64_t shown_at;              /* at which reading it got its series */
	uint64_t growth;                /* since the last reading, by what ranks */
	double score;                   /* growth, of the last readings above all */
	uint32_t group;                 /* names that compete with it, of keys.groups */
	bool is_rest;                   /* of what has no series of its own */
	bool is_kept;                   /* has series whatever there is besides */
	bool is_shown;
	bool was_shown; /* counted among the new ones already */
};

/* A key that was there, and what its row held. */
struct key_entry {
	uint32_t name;  /* which it has, UINT32_MAX: has never counted */
	uint64_t named; /* generation of that name */
	int subject;    /* of its service when it got that name, -1: none */
	uint32_t row;   /* of that service at the last reading, 0 (which never moves): of none */
	uint64_t generation; /* of that subject */
	bool is_left_out;    /* by a Label of the Probe block */
	uint64_t seen;
	int cpu;
	unsigned char *key;
	uint64_t *previous; /* cells */
};

/* Names that compete for series: those of a function, else all of a table. */
struct key_group {
	uint32_t shown;        /* have series now, without those that are kept */
	struct allowance news; /* names that may get series for the first time */
	bool is_settled;       /* at this reading */
	bool has_rest, is_rest_told;
};

struct keys {
	struct key_entry *entry;
	size_t entry_count, entry_max;
	struct key_name *name;
	size_t name_count, name_max, name_free;
	struct index by_key, by_name;
	struct label_choice choice;
	const struct cgroup_rows *cgroup_rows; /* of labels that are numbers of cgroups */
	uint64_t generation;
	uint64_t readings;
	uint32_t shown_max; /* names with series, of a group */
	struct key_group *groups;
	size_t group_count;
	uint32_t shown, rest; /* how many names have series now, and how many have not */
	uint64_t growth,
		growth_rest; /* since the last reading, of all and of those without series */
	double rest_percent; /* of the last reading's growth, NAN: nothing has grown */
	uint64_t *now;       /* cells of the row that is read */
	bool starting;
	size_t rows;  /* that the last reading gave */
	bool is_full; /* a key found no room, so it counts nowhere */
	bool is_full_told, is_filled_told;
};

/* Bytes that the keys of a sized table may take at most. */
uint64_t keys_memory(const struct table *table);

/* After load; takes what the rows hold as the start of all growth. */
int keys_start(struct table *table, struct error *error);

/* Adds what the rows have grown by, as table_read() and table_catch_up() do. */
int keys_read(struct table *table, const struct snapshot *snapshot, struct error *error);

/* Are rows of services among its labels? */
bool keys_follow_services(const struct table *table);

/* A reading is over, at this time: chooses which names have series from the next one on. */
void keys_end(struct table *table, uint64_t now_ns);

/* Says that there are more keys than are counted; false: there are not, or it was said before. */
bool keys_trouble(struct table *table, struct error *ret_trouble);

void keys_done(struct keys *keys);

#endif
