/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEY_NAME_H
#define EBPF_KEY_NAME_H

#include "service/snapshot.h"
#include "table_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many groups of names do not compete with each other for series. */
size_t key_groups(const struct table *table);

/* The function that the names of this group are of; NULL: none. */
const char *key_group_name(const struct table *table, size_t group);

/* The number of a key's name. If there is no room for another name, it is that of the "other" name
 * of its subject; UINT32_MAX: there is no room for that, either. `subject` is that of its service;
 * -1: it has none. A new name gets series at once if the limits allow it. NAME_NONE: the Label lines
 * of the Probe block leave the key out. NAME_PENDING: a later reading finds the name. */
enum name_state key_name_of(struct table *table, const struct snapshot *snapshot,
			    const struct key_entry *entry, int subject, uint32_t *ret_number);

/* The number of the name that counts for this name: itself, or "other"; UINT32_MAX: there is
 * none. */
uint32_t key_name_counted(struct table *table, uint32_t name);

/* Ends a reading: chooses which names have series from the next reading on, and forgets old
 * ones. */
void key_names_choose(struct table *table, uint64_t now_ns);

#endif
