/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBJECT_H
#define EBPF_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBJECT_NAME_MAX 128 /* collectd's DATA_MAX_NAME_LEN */

/* What series are about: a plugin instance. Rows of tables map to subjects,
 * several rows may map to one. */
struct subject {
	char name[SUBJECT_NAME_MAX];
	uint64_t generation; /* of this place: another subject, another number */
	bool used;
	unsigned rows;
	unsigned rank_group; /* with top_n: only the top_n of a group are dispatched */
	unsigned top_n;      /* 0: no ranking */
};

struct subjects {
	struct subject *place;
	size_t count;
	uint64_t generation;
};

/* The place of a subject, which is made if there is none and counts one more
 * row; -ENOMEM. The name is cleaned for collectd. */
int subjects_enter(struct subjects *subjects, const char *name);

/* A row less; without any the place is free. */
void subjects_leave(struct subjects *subjects, size_t place);

/* Copies a name so that it can be a part of a collectd identifier and of a
 * file name: slashes, spaces, what does not print and what is no UTF-8 become '_'. */
void subject_clean(char *to, size_t size, const char *name);

/* Is this name one of the plugin's own series? */
bool subject_reserved(const char *name);

void subjects_done(struct subjects *subjects);

#endif
