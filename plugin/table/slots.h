/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SLOTS_H
#define EBPF_SLOTS_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#define SLOT_OLD_READINGS 10 /* a service keeps its slot for this long at least */
#define SLOT_RATE_MIN 1.0 /* per second, on average: a service that counts less may lose its slot */

/* After rows_start(). 0 or -ENOMEM. */
int slots_start(struct table *table, struct error *error);

/* Adds the growth in all slots, frees those of exited owners, and grants slots to services with
 * series. Errors of table_read_row(). */
int slots_read(struct table *table, const struct snapshot *snapshot, struct error *error);

/* After a reading: if services with series have no slot, closes some in which next to nothing is
 * counted. They become free at the next reading, when their last growth has been added. */
void slots_balance(struct table *table, const struct snapshot *snapshot);

/* Discards the growth until now in all slots of processes, and in those of services whose row can
 * change owner. */
void slots_forget_growth(struct table *table, const struct snapshot *snapshot);

void slots_done(struct slots *slots);

#endif
