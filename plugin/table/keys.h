/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEYS_H
#define EBPF_KEYS_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

/* The most bytes that the keys of a sized table can take. */
uint64_t keys_memory(const struct table *table);

/* Prepares reading, after load. What the rows contain now is the base of all growth. -ENOMEM, or an
 * error of the source. */
int keys_start(struct table *table, struct error *error);

/* Adds the growth of all rows, for table_read() and table_catch_up(). */
int keys_read(struct table *table, const struct snapshot *snapshot, struct error *error);

/* Is a service among its labels? */
bool keys_follow_services(const struct table *table);

/* Ends a reading at this time: chooses which names have series from the next one on. */
void keys_end(struct table *table, uint64_t now_ns);

/* Reports once that keys are not counted, or that values have no series of their own. False: there
 * is nothing new to report. */
bool keys_trouble(struct table *table, struct error *ret_trouble);

/* Reports once that receivers would take two names for one, and what the one is called. False: there is
 * nothing to report. */
bool keys_alike(struct table *table, struct error *ret_notice);

void keys_done(struct keys *keys);

#endif
