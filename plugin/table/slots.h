/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SLOTS_H
#define EBPF_SLOTS_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#define SLOT_OLD_READINGS 10 /* that a service has its row at least */
#define SLOT_RATE_MIN 1.0    /* a second, on average: who counts less gives it back to others */

/* 0 or -ENOMEM. After rows_start(). */
int slots_start(struct table *table, struct error *error);

/* Adds what the rows of all slots have grown by, takes back those of owners that are gone, and
 * gives the kernel leave for services that have series. Errors of table_read(). */
int slots_read(struct table *table, const struct snapshot *snapshot, struct error *error);

/* After a reading: where rows are wanted, closes some of those in which next to nothing is counted.
 * They are free at the next one, when their last growth has been added. */
void slots_turn(struct table *table, const struct snapshot *snapshot);

/* Growth until now is nobody's. */
void slots_forget_growth(struct table *table, const struct snapshot *snapshot);

void slots_done(struct slots *slots);

#endif
