/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_H
#define EBPF_PROBE_H

#include "attach/function.h"
#include "config/config.h"
#include "event/event.h"
#include "object/object.h"
#include "run_counter.h"
#include "service/service.h"
#include "stack/view.h"
#include "table/table.h"

#include <pthread.h>

/* An object file with its tables. */
struct probe {
	char name[CONFIG_NAME_MAX];
	char *path;
	double interval_s;
	const struct probe_config *block; /* of the configuration, or an empty one */
	struct services *services;
	type_lookup *lookup; /* of the data sources of types */
	int subscriber; /* number among the subscribers of services; -1: reads no rows of services */
	struct strings options; /* those in use; the strings are the block's */
	struct object object;
	struct functions *functions; /* of its Function blocks; NULL: there are none */
	struct run_counters run_counters;
	bool is_off_by_default;
	uint64_t memory; /* bytes reserved in the budget */
	struct table *tables;
	size_t table_count;
	struct selection selection; /* which metrics of the tables are on */
	struct events events;
	struct views views;         /* of stacks */
	uint64_t events_suppressed; /* without a notification of their own; atomic */
	uint64_t stacks_lost;       /* records without room, or malformed; atomic */
	bool on_threshold;          /* attached only while a threshold has started a profile */
	uint64_t *refused;          /* variables of the object, or NULL */
	uint64_t *events_dropped;
	uint64_t *read_ns;
	uint64_t readings;  /* so far, including those that only catch up */
	uint64_t began_ns;  /* start of the current interval, CLOCK_MONOTONIC; 0: none yet */
	uint64_t walked_ns; /* start of the walk that the last reading used */
	double read_s;      /* duration of the last reading; 0: none yet */
	uint64_t
		walk_ns; /* CPU time of its own iterators in the last reading; 0: it has none; atomic */
	size_t series;       /* dispatched by the last reading; atomic */
	uint32_t dispatched; /* readings that dispatched; atomic */
	/* CPU time of the last reading, and of all runs of its samplers; atomic. */
	uint64_t reading_ns, sampled_ns;
	bool refused_logged;           /* that something was refused */
	uint64_t unassigned_logged_ns; /* when services without a row were logged last; 0: never */
	bool failing;                  /* the last reading failed */
	uint64_t cpus_online;          /* see online_cpus_set(); atomic */
	/* Written by upkeep, see pause.h; atomic. */
	bool paused;  /* not attached */
	bool resumed; /* since the last reading */
	/* A threshold wants it to be attached: of a probe with on_threshold; atomic. */
	bool wanted;
	/* Of all tables of keys, at the last reading. read_s, failing and keys change with the
	 * services' lock held. */
	struct key_figures {
		uint32_t shown, other;
		double other_percent; /* the largest share of one table; NAN: nothing has grown */
		bool any;
	} keys;
	/* While iterators run and tables are read: the probe's own reading has it, or another one
	 * that catches up for it, which only tries. No lock in the sense of util/lock.h: a reading
	 * opens its text files with it, and upkeep never acquires it. */
	pthread_mutex_t reading;
};

/* Finds files for its attachments. */
struct file_finder probe_file_finder(struct probe *probe);

/* Services that have series and found no free row, in the table where these are most. */
uint32_t probe_services_unassigned(const struct probe *probe);

#endif
