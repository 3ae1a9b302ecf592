/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RANK_H
#define EBPF_RANK_H

#include "service/snapshot.h"
#include "table_state.h"

/* Of subjects that are ranked, only the first top_n of each group stay. */
void rank(struct table *table, const struct snapshot *snapshot);

#endif
