/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROFILER_H
#define EBPF_PROFILER_H

#include "probe.h"
#include "service/service.h"
#include "stack/collector.h"
#include "stack/trigger.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define PROFILER_ASKED_MAX 64 /* at once */

struct profiler_ring;

/* One thread that makes folded files of the stacks in the probes' ring buffers, and has those probes run
 * that wait for a threshold. */
struct profiler {
	struct services *services;
	struct probe *probes;
	size_t probe_count;
	struct file_reader files; /* the thread's own */
	struct collector *collector;
	struct profiler_ring *rings;
	size_t ring_count;
	struct trigger trigger;
	bool attached;       /* the probes that wait for a threshold are */
	bool failed;         /* the last write */
	uint64_t stopped_ns; /* when it was to end, 0: not yet; atomic */
	int wake;            /* an eventfd */
	pthread_t thread;
	bool running; /* with the lock */
	pthread_mutex_t lock;
	char asked[PROFILER_ASKED_MAX][SUBJECT_NAME_MAX]; /* services, with the lock */
	size_t asked_count;
};

/* Begins, if a probe has stacks or waits for a threshold. services, probes and the configuration outlive it. A
 * negative errno, and the error says why there will be no profiles. */
int profiler_start(struct profiler *profiler, struct services *services, struct probe *probes,
		   size_t probe_count, struct error *error);

/* A threshold was passed by this service: any thread, waits for nobody. */
void profiler_ask(struct profiler *profiler, const char *service);

/* Ends the thread, which writes what it has. */
void profiler_stop(struct profiler *profiler);

#endif
