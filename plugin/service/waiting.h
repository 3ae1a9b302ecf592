/* SPDX-License-Identifier: MIT */
#ifndef EBPF_WAITING_H
#define EBPF_WAITING_H

#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>

struct free_rows;
struct service_counters;

/* Do processes wait for rows of which there are free ones? */
bool waiting_any(const struct service_counters *counters, const struct free_rows *free_rows);

/* Gives free rows to those that have waited longest. Errors of scan_assign(), -ENOMEM. */
int waiting_serve(struct object *object, const struct free_rows *free_rows, struct error *error);

#endif
