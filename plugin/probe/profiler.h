/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROFILER_H
#define EBPF_PROFILER_H

#include "probe.h"
#include "service/service.h"
#include "stack/collector.h"
#include "stack/trigger.h"
#include "upkeep.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define PROFILER_REQUESTS_MAX 64 /* in the list at one time */

struct pollfd;
struct profiler_ring;

/* A thread that makes folded files of the stacks in the probes' ring buffers, and attaches probes
 * that wait for a threshold. */
struct profiler {
	struct services *services;
	struct upkeep *upkeep; /* attaches the probes that wait for a threshold */
	struct probe *probes;
	size_t probe_count;
	struct file_helper files; /* the thread's own */
	struct collector *collector;
	struct profiler_ring *rings;
	struct pollfd *fds; /* of all rings, and of `wake` */
	size_t ring_count;
	struct trigger trigger;
	bool attached;       /* the probes that wait for a threshold are wanted */
	bool failed;         /* the last write failed */
	uint64_t stopped_ns; /* when it was requested to stop; 0: not yet; atomic */
	int wake;            /* an eventfd */
	pthread_t thread;
	bool running; /* changes with the lock held */
	pthread_mutex_t lock;
	char requested[PROFILER_REQUESTS_MAX]
		      [SUBJECT_NAME_MAX]; /* services; change with the lock held */
	size_t requested_count;
};

/* Starts the thread if a probe has stacks. services, upkeep, probes and the configuration must outlive it.
 * A negative errno: there are no profiles, and the error says why. */
int profiler_start(struct profiler *profiler, struct services *services, struct upkeep *upkeep,
		   struct probe *probes, size_t probe_count, struct error *error);

/* Requests a profile of a service whose value is beyond a threshold. Any thread may call it; does
 * not wait for the profiler. */
void profiler_request(struct profiler *profiler, const char *service);

/* Stops the thread, which first writes what it has. */
void profiler_stop(struct profiler *profiler);

#endif
