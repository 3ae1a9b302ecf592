/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_ROW_H
#define EBPF_TABLE_ROW_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_SLOT_OWNERS_MAX 4 /* processes that own one slot in turn within one reading */

/* Does each process get a slot on first use? */
bool table_is_of_slot_processes(const struct table *table);

/* Adds the growth of entry `at` of the table to the accumulator of the row's subject. If the row
 * has no subject, the growth is discarded. -ENOMEM. */
int table_read_row(struct table *table, const struct snapshot *snapshot, uint32_t row, uint32_t at,
		   struct error *error);

/* Makes the cells of an entry the base of its growth. */
void table_remember(const struct table *table, uint32_t at);

/* As table_remember(), before the first reading. A row of zeros is
 * not written: most rows of histograms are large and never used, and memory that is not touched
 * costs nothing. */
void table_remember_first(const struct table *table, uint32_t at);

#endif
