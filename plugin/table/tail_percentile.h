/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAIL_PERCENTILE_H
#define EBPF_TAIL_PERCENTILE_H

#include "table_state.h"
#include "util/message.h"

#include <stdint.h>

#define TAIL_PERCENT 5

/* Bytes that the tails of a sized table take if all rows are in use. */
uint64_t tails_memory(const struct table *table);

/* What the rows contain now is the base of all growth. After rows_start(). -ENOMEM. */
int tails_start(struct table *table, struct error *error);

/* After a reading: writes hist_tail() of each histogram's growth since the last call, in the unit
 * of its samples; 0: it has not grown. Rows without an owner are not written. */
void tails_write(const struct table *table);

/* Prepares a row for another owner: discards the growth until now and writes 0. */
void tails_forget(const struct table *table, uint32_t row);

#endif
