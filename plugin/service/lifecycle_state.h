/* SPDX-License-Identifier: MIT */
/*
 * The state of lifecycle.h and row_name.h.
 */
#ifndef EBPF_LIFECYCLE_STATE_H
#define EBPF_LIFECYCLE_STATE_H

#include "config/config.h"
#include "object/mapping.h"
#include "object/object.h"
#include "snapshot.h"
#include "subject.h"
#include "subscriber.h"
#include "util/allowance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;
struct process_label;
struct row_name;

/* The owners of the rows of services and processes, and the subjects. The kernel's side is in the engine's own
 * object. Times are of CLOCK_BOOTTIME. */
struct lifecycle {
	const struct config *config;
	const struct object *object;
	struct mapping rows_mapping, labels_mapping;
	struct service *kernel_rows;         /* of `services` */
	struct process_label *kernel_labels; /* of `process_labels` */
	struct service_state *states;
	uint32_t row_count;
	unsigned named_sources; /* as of groups_need_names() */
	uint32_t reserve_begin; /* rows from here on are reserved for units and containers */
	struct row_name *names; /* by row */
	bool any_renamed;       /* of them, since the last refresh */
	bool *active;           /* rows that were very active since the last refresh; atomic */
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects;
	struct subscribers subscribers;
	uint64_t interval_ns;
	/* How many names may get series for the first time: of users and commands; of units and containers, which
	 * may use up the former, too. */
	struct allowance new_series_budget, group_new_series_budget;
	uint64_t names_refused; /* for want of such an allowance, in all */
	unsigned hidden;        /* names under "other" now */
	unsigned shown;         /* services with series of their own now */
	/* Free rows, as of the last refresh; atomic. */
	struct free_rows {
		uint32_t services;  /* for all names */
		uint32_t processes; /* of services with PerProcess */
		uint32_t reserve;   /* for units and containers */
	} free_rows;
	struct departed {
		size_t subject; /* that has lost a row */
		uint64_t since_ns;
		unsigned intervals; /* of each subscriber, until the subject is forgotten */
	} * departed;
	size_t departed_count;
};

#endif
