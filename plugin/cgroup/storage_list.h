/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STORAGE_LIST_H
#define EBPF_STORAGE_LIST_H

#include "state.h"

#include <stdbool.h>
#include <stddef.h>

#define STORAGE_LIST_SIZE_MAX (64 << 20) /* bytes of a list */

/* Visits the containers of a list of containers/storage while the list is read. Memory is bounded by the largest
 * entry, STATE_SIZE_MAX at most. */
struct storage_list {
	const char *
		id; /* of the container that is searched for, the caller's; NULL: all are visited */
	state_visitor *visit;
	void *of;
	char *entry; /* the bytes of the current one so far */
	size_t size, room;
	size_t depth;
	bool in_string, is_escaped;
	bool is_skipped; /* the current entry is too large */
	bool is_found;
};

/* For file_read(); `of` is the struct storage_list. */
void storage_list_receive(void *of, const char *bytes, size_t size);

void storage_list_done(struct storage_list *list);

#endif
