/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_H
#define EBPF_PROBE_H

#include "attach/function.h"
#include "config/config.h"
#include "event/event.h"
#include "hot.h"
#include "object/object.h"
#include "service/service.h"
#include "stack/view.h"
#include "table/table.h"

#include <pthread.h>

/* One object file with its tables. */
struct probe {
	char name[CONFIG_NAME_MAX];
	char *path;
	double interval_s;
	const struct probe_config *block; /* of the configuration, or an empty one */
	struct services *services;
	type_lookup *lookup; /* the data sources of a type */
	int subscriber;      /* of services, -1: has no rows of theirs */
	struct object object;
	struct functions *functions; /* that its Function blocks name, NULL: it counts none */
	struct hot hot;
	bool is_off_by_default;
	uint64_t memory; /* bytes that it has taken */
	struct table *tables;
	size_t table_count;
	struct selection selection; /* of their metrics */
	struct events events;
	struct views views;         /* of stacks */
	uint64_t events_suppressed; /* that made no notification of their own; atomic */
	uint64_t stacks_lost;       /* records that found no room or are none; atomic */
	bool on_threshold;          /* it is paused but when a threshold has started a profile */
	uint64_t *refused;          /* variables of the object, or NULL */
	uint64_t *events_dropped;
	uint64_t *read_ns;
	uint64_t readings;   /* so far, those that only catch up too */
	uint64_t began_ns;   /* the interval that goes on, by CLOCK_MONOTONIC; 0: the first */
	uint64_t walked_ns;  /* when the walk began that the last of them took */
	double read_s;       /* what the last reading took, 0: there was none */
	uint64_t walk_ns;    /* CPU time of its own iterators, the last time, 0: none; atomic */
	size_t series;       /* that the last reading has dispatched; atomic */
	uint32_t dispatched; /* readings that have; atomic */
	/* CPU time of the last reading, and of all runs of its samplers; atomic. */
	uint64_t reading_ns, sampled_ns;
	uint64_t waiting_told_ns; /* when services without a row were told of last, 0: never */
	bool failing;             /* the last reading did not work */
	/* Nothing of it is attached, see pause.h; atomic, changes with `reading` held. */
	bool paused;
	bool resumed; /* since the last reading */
	/* Of all tables of keys, at the last reading. These three change with the services' lock
	 * held. */
	struct key_figures {
		uint32_t shown, rest;
		double rest_percent; /* of the table that has most of it there, NAN: no growth */
		bool any;
	} keys;
	/* Held by who runs the iterators and reads the tables: the probe's own reading, or another
	 * that catches up for it, which does not wait for it. */
	pthread_mutex_t reading;
};

/* Services with series that found no free row, of the table where they are most. */
uint32_t probe_services_waiting(const struct probe *probe);

#endif
