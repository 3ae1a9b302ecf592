/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ROW_NAME_H
#define EBPF_ROW_NAME_H

#include "lifecycle.h"

#include "bpf/lib/group.h"

#include <stdbool.h>
#include <stdint.h>

/* What a row that is taken for a unit, a user or a container is called: by its key alone that may take
 * files, which are read without the lock of the lifecycle. Command names are their keys. */
struct row_name {
	struct group_key key; /* whose name it is */
	bool known;
	unsigned tries;   /* at finding out */
	bool is_nameless; /* it shall have no series */
	uint32_t service; /* the row of the Service block that it is of, 0: of none */
	char name[SUBJECT_NAME_MAX];
	char other_name[SUBJECT_NAME_MAX]; /* where another that lives is called so */
};

/* The first row from this one on that wants a name; false: there is none. */
bool row_name_wanted(const struct lifecycle *lifecycle, uint32_t *row, struct group_key *ret_key);

/* That is it; if it is not final, a better one is wanted some times more. */
void row_name_take(struct lifecycle *lifecycle, uint32_t row, const struct row_name *name,
		   bool is_final);

/* Is all known that the name tells? */
bool row_name_is_settled(const struct lifecycle *lifecycle, uint32_t row);

/* The row of the Service block that this row is of, 0: of none, or not known yet. */
uint32_t row_name_service(const struct lifecycle *lifecycle, uint32_t row);

/* May the row have series? */
bool row_name_is_known(const struct lifecycle *lifecycle, uint32_t row);

/* The subject of the row's name, which has a row more; errors of subjects_enter(). */
int row_name_enter(struct lifecycle *lifecycle, uint32_t row);

/* Such a subject, -1: there is none. */
int row_name_find(const struct lifecycle *lifecycle, uint32_t row);

/* Names of later kinds than this one make way for one that has come. */
void row_names_make_way(struct lifecycle *lifecycle, enum subject_kind kind);

#endif
