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

/* Whose the rows of services and processes are, and which subjects there are. The kernel's side is
 * in the engine's own object. Times are of CLOCK_BOOTTIME. */
struct lifecycle {
	const struct config *config;
	const struct object *object;
	struct mapping rows_mapping, labels_mapping;
	struct service *kernel_rows;         /* of `services` */
	struct process_label *kernel_labels; /* of `process_labels` */
	struct service_state *states;
	uint32_t row_count;
	unsigned named_sources; /* as of groups_need_names() */
	uint32_t reserve_begin; /* rows from here on are for units and containers alone */
	struct row_name *names; /* by row */
	bool *notable; /* rows that used much of something since the last refresh; atomic */
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects;
	struct subscribers subscribers;
	uint64_t interval_ns;
	/* Names that may get series for the first time: anyone's, as those of commands are, and those of
	 * units and containers, which may use up the former, too. */
	struct allowance news, group_news;
	uint64_t names_refused; /* that might not */
	unsigned hidden;        /* names under "other" now */
	unsigned shown;         /* services with series of their own now */
	/* Of rows, as of the last refresh; atomic. */
	struct free_rows {
		uint32_t services;  /* for all names */
		uint32_t processes; /* of services with PerProcess */
		uint32_t reserve;   /* for units and containers */
	} free_rows;
	struct departed {
		size_t subject; /* that has a row less */
		uint64_t since_ns;
		unsigned intervals; /* of each subscriber, until its series are forgotten */
	} * departed;
	size_t departed_count;
};

/* Of so many rows or names, those for units and containers alone: all, where command names are
 * none. */
uint32_t lifecycle_reserved(const struct config *config, uint32_t count);

/* Sizes the maps of an object, before load; config and object stay the caller's. -ENOMEM, or what
 * the kernel says. */
int lifecycle_prepare(struct lifecycle *lifecycle, const struct config *config,
		      const struct object *object, double interval_s, struct error *error);

/* Maps the kernel's rows and gives those of the configuration their names; after load, before
 * attach. */
int lifecycle_start(struct lifecycle *lifecycle, struct error *error);

/* Brings names and rows of services up to date. */
void lifecycle_refresh(struct lifecycle *lifecycle, uint64_t now_ns);

/* Names that were there when the plugin started have lived long enough. */
void lifecycle_accept(struct lifecycle *lifecycle);

/* What readings work on from now on: what there is at this moment. NULL: no memory. Made before
 * lifecycle_refresh(), which must not fail half-way, and filled after it. */
struct snapshot *lifecycle_snapshot(const struct lifecycle *lifecycle);
void lifecycle_fill(const struct lifecycle *lifecycle, struct snapshot *snapshot, uint64_t now_ns);

/* The name of the service of a row that has a subject. */
const char *lifecycle_name(const struct lifecycle *lifecycle, uint32_t row);

/* A subject (-1: none) has a row less since then: it is forgotten when all subscribers have read so
 * many intervals later. */
void lifecycle_depart(struct lifecycle *lifecycle, int subject, uint64_t since_ns,
		      unsigned intervals);

/* Gives row i back to the kernel, by this queue. */
void lifecycle_give_back(struct lifecycle *lifecycle, const char *queue, uint32_t i);

void lifecycle_done(struct lifecycle *lifecycle);

#endif
