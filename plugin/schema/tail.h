/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAIL_H
#define EBPF_TAIL_H

#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

#define TAIL_PERCENT 95

struct schema;
struct table;

/* A histogram of a row whose column has the word tail, and where its percentile goes. */
struct tail {
	uint32_t hist, member; /* offsets in the row, bytes */
};

/* Finds the members that columns of a schema name by tail, in the row's type. -EINVAL: one is not
 * there or of the wrong type, or has another use; -ENOMEM. */
int tails_find(struct schema *schema, const struct btf *btf, const struct btf_type *row,
	       const char *map, struct error *error);

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
