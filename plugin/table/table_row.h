/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_ROW_H
#define EBPF_TABLE_ROW_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_SLOT_OWNERS_MAX 4 /* processes that own one slot in turn within one reading */

/* Has each process a row on first use? */
bool table_is_of_slot_processes(const struct table *table);

/* For slots.c: adds entry `at` of the table to the accumulator of the row's subject, or takes
 * what it holds as the start of its growth. */
int table_read_row(struct table *table, const struct snapshot *snapshot, uint32_t row, uint32_t at,
		   struct error *error);
void table_remember(const struct table *table, uint32_t at);

/* As table_remember(), for the first reading: a row of zeros is not written. Histograms have large
 * rows, most of which are never used, and memory that is not touched costs nothing. */
void table_remember_first(const struct table *table, uint32_t at);

#endif
