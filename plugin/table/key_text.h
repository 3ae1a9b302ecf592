/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEY_TEXT_H
#define EBPF_KEY_TEXT_H

#include "service/snapshot.h"
#include "table_state.h"

/* Writes the texts of a key's name, and what they were made of. `subject` is that of its service; -1:
 * it has none. NAME_NONE: the Label lines of the Probe block leave the key out. NAME_PENDING: a later
 * reading finds the name. */
enum name_state key_text(const struct table *table, const struct snapshot *snapshot,
			 const struct key_entry *entry, int subject, struct key_name *ret_name);

/* Likewise, of the "other" name that counts for this name. */
void key_text_other(const struct table *table, const struct key_name *name,
		    struct key_name *ret_other);

/* Are the texts of both the same for a receiver? */
bool key_text_is_same(const struct key_name *a, const struct key_name *b);

/* Changes a name whose texts are those of this other one. Repeated until no other has them. */
void key_text_distinguish(struct key_name *name, const struct key_name *other);

#endif
