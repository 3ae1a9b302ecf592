/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBJECT_H
#define EBPF_SUBJECT_H

#include "schema/subject_kind.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What series are about: a plugin instance. Rows of tables map to subjects, also several rows to one. */
struct subject {
	enum subject_kind kind;
	char name[SUBJECT_NAME_MAX]; /* no other has it */
	uint64_t origin;             /* hash of the text that it was named by */
	bool is_exact;               /* receivers have that text unchanged */
	uint64_t generation;         /* changes when the number is reused */
	bool used;
	unsigned rows;
	uint32_t first_row;    /* of a service, as of lifecycle_refresh() */
	uint64_t began_ns;     /* since when one of its rows has had processes; 0: none has */
	uint32_t restart_hint; /* where restart.c had it last */
	unsigned rank_group;   /* only the top_n of a group are dispatched */
	unsigned top_n;        /* 0: no ranking */
};

/* Reserved names of a kind: NAME, or NAME with that many numbers appended, such as NAME-7-42. */
struct subject_names {
	enum subject_kind kind;
	unsigned numbers;
	char name[SUBJECT_NAME_MAX];
};

/* Why a name is not the one that was wanted. */
struct subject_clash {
	char text[512];      /* of a message; empty: nothing to log */
	uint64_t claimed_ns; /* when the last one was claimed; 0: never */
};

struct subjects {
	struct subject *subject;
	size_t count;
	uint64_t generation;
	struct subject_names *reserved;
	size_t reserved_count;
	struct subject_clash clashes[SUBJECT_KEY]; /* by kind */
};

/* Reserves names: later kinds can no longer have them. The name is clean. 0 or -ENOMEM. */
int subjects_reserve(struct subjects *subjects, enum subject_kind kind, const char *name,
		     unsigned numbers);

/* Do both contain the same name? */
bool subject_names_overlap(const struct subject_names *a, const struct subject_names *b);

/* The name of the first reserved names of this kind that overlap with `names`; or NULL. */
const char *subjects_find_reserved(const struct subjects *subjects, enum subject_kind kind,
				   const struct subject_names *names);

/* Adds a row to the subject of this kind and text, which is created if needed, and returns its number. Its name is that
 * of name_attempt(): the first that no earlier kind has reserved, and no subject of an earlier kind has, or of this kind that
 * precedes. Subjects that it precedes still have the name, and have to be entered again. The
 * name of a service is reserved by this; others have theirs as long as the subject exists. -ENOMEM. */
int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *text);

/* Was it named by this text? */
bool subject_is_of(const struct subject *subject, const char *text);

/* Has no earlier kind got its name meanwhile? */
bool subjects_keeps_name(const struct subjects *subjects, size_t subject);

/* The subject of this kind and text; -1: there is none that keeps its name. */
int subjects_find(const struct subjects *subjects, enum subject_kind kind, const char *text);

void subjects_add_row(struct subjects *subjects, size_t subject);

/* Removes a row; a subject without rows is freed. */
void subjects_release(struct subjects *subjects, size_t subject);

/* Claims the text of a message about a name that was given because another had the wanted one: one of each kind in an
 * hour; now_ns of CLOCK_BOOTTIME. false: there is none. */
bool subjects_claim_clash(struct subjects *subjects, uint64_t now_ns, struct error *ret_clash);

void subjects_done(struct subjects *subjects);

#endif
