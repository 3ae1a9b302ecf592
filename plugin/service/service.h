/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_H
#define EBPF_SERVICE_H

#include "cgroup/places.h"
#include "cgroup_row.h"
#include "config/config.h"
#include "helper/file.h"
#include "lifecycle.h"
#include "name_tables.h"
#include "object/budget.h"
#include "object/object.h"
#include "resolve.h"
#include "table/series.h"
#include "util/message.h"
#include "walk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct service_counters;

/* The services of this machine, and what the probes have in common: the engine's own object, the
 * life of its rows, the processes that need more than the kernel to be told apart, memory and names
 * of series. */
struct services {
	/* Of lifecycle, snapshot and registry; held over work in memory alone, never over a walk, a
	 * file or a dispatch. */
	pthread_mutex_t lock;
	const struct config *config;
	struct object object;
	struct budget budget; /* of all objects, this one and those of the probes */
	struct lifecycle lifecycle;
	struct snapshot *snapshot; /* the newest one */
	bool any_late;             /* a subscriber is; atomic */
	struct registry registry;  /* of the tables of all probes */
	struct service_counters *counters;
	struct name_tables names;
	struct resolver resolver;
	struct cgroup_rows cgroup_rows;
	struct places places;        /* of the cgroups whose files probes read */
	uint64_t resolved_ns;        /* when that was begun last; atomic */
	uint64_t names_refused_told; /* as many were when that was told last */
	uint64_t told_ns;            /* when that was, 0: never */
	struct walk walk;
};

/* Opens, loads and attaches the engine's own object; meets the processes that run. interval_s is
 * the plugin's; config and files stay the caller's. A negative errno of what the kernel refuses,
 * -ENOMEM, or -ENOSPC: it is more memory than allowed. */
int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_reader *files, struct error *error);

/* Hands the maps that the objects share to a probe's object, before load; its programs with a WALK
 * tag are not attached. -EINVAL: they do not agree on what is in them. */
int services_share(const struct services *services, struct object *object, struct error *error);

/* Brings names, rows of services and of processes up to date; now_ns of CLOCK_BOOTTIME. Where there
 * is no memory for it all stays as it was. */
void services_refresh(struct services *services, uint64_t now_ns);

/* Looks for processes that only files tell apart, and tells what went wrong with services, before a
 * reading; unless that was done at most half an interval ago. Another thread that is at it is not
 * waited for. */
void services_resolve(struct services *services, double interval_s);

/* Once an interval: tells what lines of Service blocks fit no process. Another thread that looks for
 * processes is not waited for. */
void services_tell_fits(struct services *services);

/* A subscriber (-1: none) begins to read: services are brought up to date, unless they were at most
 * half its interval ago. Returns whose the rows are until services_read(). */
const struct snapshot *services_begin(struct services *services, int subscriber, double interval_s);

/* It has read all rows as they were at begin_ns or later; 0: it has not. */
void services_read(struct services *services, int subscriber, const struct snapshot *snapshot,
		   uint64_t begin_ns);

/* Has those catch up that are late, so that rows that wait for them alone go to others. */
void services_catch_up(struct services *services, uint64_t now_ns);

/* What there is now; given back by services_release(). */
const struct snapshot *services_take(struct services *services);
void services_release(struct services *services, const struct snapshot *snapshot);

void services_done(struct services *services);

#endif
