/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPKEEP_H
#define EBPF_UPKEEP_H

#include "online_cpus.h"
#include "overhead.h"
#include "probe.h"
#include "run_statistics.h"
#include "service/service.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPKEEP_SERVICES "services" /* what programs of the engine's own object are of, in `runs` */

/* A thread that does everything which opens a file, asks a helper process or waits, so that readings
 * need not: it resolves services, follows files that are replaced and CPUs that come online, switches
 * probes off and on, and samples run statistics. After its start no other thread attaches, detaches
 * or uses the two helpers of `services`. */
struct upkeep {
	struct services *services;
	struct probe *probes;
	size_t probe_count;
	double interval_s; /* the plugin's */
	struct overhead overhead;
	struct run_statistics runs;
	struct online_cpus cpus;
	bool cpus_failed; /* a probe could not follow, and that was logged */
	bool any_slow;    /* something may have to be attached again */
	uint64_t services_due_ns, fits_due_ns, overhead_due_ns; /* 0: at once */
	uint64_t urgent_due_ns;                                 /* the earliest of all of these */
	bool stopped;                                           /* atomic */
	int wake;                                               /* an eventfd */
	pthread_t thread;
	bool running;
};

/* Lists what the thread works for; services, which are open, and probes must outlive it. 0 or -ENOMEM. */
int upkeep_open(struct upkeep *upkeep, struct services *services, struct probe *probes,
		size_t probe_count, double interval_s, overhead_notify *notify);

/* Starts the thread. A negative errno: there is none. */
int upkeep_start(struct upkeep *upkeep);

/* Something is wanted of it: a `wanted` of a probe has changed. Any thread. */
void upkeep_wake(struct upkeep *upkeep);

/* Does what is due; now_ns of CLOCK_BOOTTIME. Returns when it must be called again. Called by the thread and by
 * tests. */
uint64_t upkeep_step(struct upkeep *upkeep, uint64_t now_ns);

/* Stops the thread within a tenth of a second, whatever it waits for, and frees what upkeep_open() has
 * made. */
void upkeep_stop(struct upkeep *upkeep);

#endif
