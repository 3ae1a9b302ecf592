/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_H
#define EBPF_SERVICE_H

#include "cgroup/service_cgroups.h"
#include "cgroup_row.h"
#include "config/config.h"
#include "helper/file.h"
#include "lifecycle.h"
#include "name_tables.h"
#include "object/budget.h"
#include "object/cause.h"
#include "object/object.h"
#include "registry.h"
#include "resolve.h"
#include "restart.h"
#include "unnamed.h"
#include "util/message.h"
#include "walk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct service_counters;

/* The services of this machine, and what the probes have in common: the engine's own object, the life of its rows,
 * the resolver of processes, memory and names of series. */
struct services {
	/* Of lifecycle, restarts, snapshot and registry. Held only over work in memory, never over a walk, a file or a
	 * dispatch. */
	pthread_mutex_t lock;
	const struct config *config;
	struct object object;
	struct budget budget; /* of all objects, this one and those of the probes */
	struct lifecycle lifecycle;
	struct restarts restarts;
	struct snapshot *snapshot; /* the newest one */
	bool any_late;             /* a subscriber is late; atomic */
	struct registry registry;  /* of the tables of all probes */
	struct service_counters *counters;
	struct name_tables names;
	struct resolver resolver;
	bool version_logged;             /* that a probe's object is of another version */
	struct file_helper *probe_files; /* of objects and attachments of probes, the caller's */
	struct cgroup_rows cgroup_rows;
	struct service_cgroups service_cgroups; /* whose files probes read */
	uint64_t names_refused_logged;          /* the count that was logged last */
	uint64_t logged_ns;                     /* when it was logged, 0: never */
	struct unnamed unnamed;
	struct causes_logged causes_logged; /* for probes, by the thread that opens them */
	struct walk walk;
};

/* Opens, loads and attaches the engine's own object, and classifies the running processes. interval_s is the
 * plugin's. config stays the caller's, and so do the two helpers: `files` is for what the resolver reads. -ENOMEM; -ENOSPC: it needs more memory than MaxMemory allows; or
 * an errno of what the kernel refused. */
int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_helper *files, struct file_helper *probe_files, struct error *error);

/* Gives a probe's object the shared maps, before load, and excludes its programs with a WALK tag from being
 * attached. -EINVAL: the objects declare a shared map differently. */
int services_prepare_object(const struct services *services, struct object *object,
			    struct error *error);

/* Updates names and rows of services and processes; now_ns of CLOCK_BOOTTIME. Without memory nothing changes. */
void services_refresh(struct services *services, uint64_t now_ns);

/* Inspects processes whose services only files tell, names rows, lists cgroups, and logs problems of services. It
 * waits for files, each for a bounded time. Called by upkeep, often enough that a new process is in its service
 * within an interval. Returns false if it has left something for the next call. */
bool services_resolve(struct services *services, uint64_t now_ns);

/* Claims a service that was restarted or deployed; false: there is none. */
bool services_claim_restart(struct services *services, struct restart *ret_restart);

/* A subscriber (-1: none) starts to read. Services are refreshed if the last refresh is more than half its interval
 * ago. The snapshot is valid until services_read(). NULL: no memory. */
const struct snapshot *services_begin(struct services *services, int subscriber, double interval_s);

/* It has read all rows as they were at begin_ns or later; 0: the reading has failed. */
void services_read(struct services *services, int subscriber, const struct snapshot *snapshot,
		   uint64_t begin_ns);

/* Has late subscribers catch up, so that the rows that wait for them can be reused. */
void services_catch_up(struct services *services, uint64_t now_ns);

/* The newest snapshot, to be released by services_release(). */
const struct snapshot *services_acquire(struct services *services);
void services_release(struct services *services, const struct snapshot *snapshot);

void services_done(struct services *services);

#endif
