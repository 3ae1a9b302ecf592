/* SPDX-License-Identifier: MIT */
/*
 * Probes that are not opened, with the parts of one that a test needs: only this file sets members
 * of struct probe.
 */
#ifndef FAKE_PROBE_H
#define FAKE_PROBE_H

#include "plugin/probe/open.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The caller owns the block; NULL: the probe has none. */
static inline void probe_of(struct probe *probe, const char *name, double interval_s,
			    const struct probe_config *block)
{
	*probe = (struct probe){
		.interval_s = interval_s,
		.block = block,
		.subscriber = -1,
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.cpus_online = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
	};
	snprintf(probe->name, sizeof(probe->name), "%s", name);
}

/* Empty tables, to be made by row_table(); probe_done() frees them. */
static inline struct table *probe_tables(struct probe *probe, struct services *services,
					 size_t count)
{
	probe->services = services;
	probe->tables = calloc(count, sizeof(*probe->tables));
	if (!probe->tables)
		abort();
	probe->table_count = count;
	return probe->tables;
}

static inline void probe_services(struct probe *probe, struct services *services)
{
	probe->services = services;
}

/* The object is open, but the caller's; NULL: it is not. */
static inline void probe_object(struct probe *probe, struct bpf_object *bpf)
{
	probe->object.bpf = bpf;
}

/* Samplers of the object; the caller owns them. */
static inline void probe_samples(struct probe *probe, struct sample *samples, size_t count)
{
	probe->object.samples = samples;
	probe->object.sample_count = count;
}

/* Programs without a map of counters; the caller owns them. */
static inline void probe_programs(struct probe *probe, struct counted_program *programs,
				  size_t count)
{
	probe->run_counters =
		(struct run_counters){ .programs = programs, .count = count, .map = -1 };
}

/* Events of the object; the caller owns them. */
static inline void probe_events(struct probe *probe, struct event *events, size_t count)
{
	probe->events = (struct events){ events, count };
}

static inline void probe_functions(struct probe *probe, struct functions *functions)
{
	probe->functions = functions;
}

static inline void probe_set_interval(struct probe *probe, double interval_s)
{
	probe->interval_s = interval_s;
}

static inline void probe_set_off_by_default(struct probe *probe, bool is_off)
{
	probe->is_off_by_default = is_off;
}

#endif
