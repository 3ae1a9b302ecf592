/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEY_NAME_H
#define EBPF_KEY_NAME_H

#include "service/snapshot.h"
#include "table_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many groups of names there are that do not compete with each other. */
size_t key_groups(const struct table *table);

/* The function whose names are of this group; NULL: it is of no function. */
const char *key_group_name(const struct table *table, size_t group);

/* The number of the name of a key as it is now, or of the rest of its subject where there is no room
 * for another name; UINT32_MAX: for that neither. subject is that of its service, -1: it has none. A
 * new name has series at once if there may be more of them. */
uint32_t key_name_of(struct table *table, const struct snapshot *snapshot,
		     const struct key_entry *entry, int subject);

/* The number of what counts a name: itself, or the rest of its subject; UINT32_MAX as above. */
uint32_t key_name_counted(struct table *table, uint32_t name);

/* Has a key of a subject, -1: it has none, the names that Label in the Probe block wants? */
bool key_name_wanted(const struct table *table, const struct snapshot *snapshot,
		     const struct key_entry *entry, int subject);

/* At the end of a reading: who has series from the next one on, and who is forgotten. */
void key_names_choose(struct table *table, uint64_t now_ns);

#endif
