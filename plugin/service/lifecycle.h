/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LIFECYCLE_H
#define EBPF_LIFECYCLE_H

#include "config/config.h"
#include "object/mapping.h"
#include "object/object.h"
#include "snapshot.h"
#include "subject.h"
#include "subscriber.h"
#include "util/allowance.h"
#include "util/message.h"

#include <stdbool.h>
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
	bool *notable;          /* rows that were very active since the last refresh; atomic */
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects;
	struct subscribers subscribers;
	uint64_t interval_ns;
	/* How many names may get series for the first time: of users and commands; of units and containers, which
	 * may use up the former, too. */
	struct allowance news, group_news;
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

/* The part of so many rows or names that is reserved for units and containers: all if ServicesFrom has no
 * command names. */
uint32_t lifecycle_reserved(const struct config *config, uint32_t count);

/* Sizes the maps of an object, before load; config and object stay the caller's. -ENOMEM, or an error of
 * libbpf. */
int lifecycle_prepare(struct lifecycle *lifecycle, const struct config *config,
		      const struct object *object, double interval_s, struct error *error);

/* Maps the kernel's rows and names those of Service blocks; after load, before attach. */
int lifecycle_start(struct lifecycle *lifecycle, struct error *error);

/* Updates names and rows of services. */
void lifecycle_refresh(struct lifecycle *lifecycle, uint64_t now_ns);

/* Names that existed when the plugin started do not wait for an interval. */
void lifecycle_accept(struct lifecycle *lifecycle);

/* A snapshot for the readings that follow; NULL: no memory. Allocated before lifecycle_refresh(), which cannot be
 * undone, and filled after it. */
struct snapshot *lifecycle_snapshot(const struct lifecycle *lifecycle);
void lifecycle_fill(const struct lifecycle *lifecycle, struct snapshot *snapshot, uint64_t now_ns);

/* The service name of a row that has a subject. */
const char *lifecycle_name(const struct lifecycle *lifecycle, uint32_t row);

/* A subject (-1: none) has lost a row at since_ns. It is forgotten when all subscribers have read so many of
 * their intervals later. */
void lifecycle_depart(struct lifecycle *lifecycle, int subject, uint64_t since_ns,
		      unsigned intervals);

/* Returns row i to the kernel, by this queue. */
void lifecycle_give_back(struct lifecycle *lifecycle, const char *queue, uint32_t i);

void lifecycle_done(struct lifecycle *lifecycle);

#endif
