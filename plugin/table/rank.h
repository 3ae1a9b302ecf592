/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RANK_H
#define EBPF_RANK_H

#include "service/snapshot.h"
#include "table_state.h"

/* In each group of ranked subjects, only the first top_n are dispatched. */
void rank_subjects(struct table *table, const struct snapshot *snapshot);

#endif
