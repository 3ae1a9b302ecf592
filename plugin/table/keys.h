/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEYS_H
#define EBPF_KEYS_H

#include "service/snapshot.h"
#include "table_state.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that the keys of a sized table may take at most. */
uint64_t keys_memory(const struct table *table);

/* After load; takes what the rows hold as the start of all growth. */
int keys_start(struct table *table, struct error *error);

/* Adds what the rows have grown by, as table_read() and table_catch_up() do. */
int keys_read(struct table *table, const struct snapshot *snapshot, struct error *error);

/* Are rows of services among its labels? */
bool keys_follow_services(const struct table *table);

/* A reading is over, at this time: chooses which names have series from the next one on. */
void keys_end(struct table *table, uint64_t now_ns);

/* Says that there are more keys than are counted; false: there are not, or it was said before. */
bool keys_trouble(struct table *table, struct error *ret_trouble);

void keys_done(struct keys *keys);

#endif
