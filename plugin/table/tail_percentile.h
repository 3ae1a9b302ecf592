/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAIL_PERCENTILE_H
#define EBPF_TAIL_PERCENTILE_H

#include "table_state.h"
#include "util/message.h"

#include <stdint.h>

#define TAIL_PERCENT 95

/* Bytes that the tails of a sized table take, when all rows are in use. */
uint64_t tails_memory(const struct table *table);

/* What the rows hold now is the start of all growth; after rows_start(). -ENOMEM. */
int tails_start(struct table *table, struct error *error);

/* A reading is over: writes the percentile of what each histogram has grown by since the last one,
 * in the unit of its samples, 0: nothing. Rows without an owner are left alone. */
void tails_write(const struct table *table);

/* A row goes to another owner: its growth until now counts no more, and its percentile is 0. */
void tails_forget(const struct table *table, uint32_t row);

#endif
