/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UNASSIGNED_H
#define EBPF_UNASSIGNED_H

#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>

struct free_rows;
struct service_counters;

/* Are there free rows for processes that have none? */
bool unassigned_any(const struct service_counters *counters, const struct free_rows *free_rows);

/* Gives free rows to the processes that have waited longest. Errors of scan_assign(), -ENOMEM. */
int unassigned_give_rows(struct object *object, const struct free_rows *free_rows,
			 struct error *error);

#endif
