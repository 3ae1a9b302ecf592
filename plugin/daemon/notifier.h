/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NOTIFIER_H
#define EBPF_NOTIFIER_H

#include "probe/probe.h"
#include "service/service.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct notifier_ring;
struct pollfd;

/* A thread that makes notifications of the records in the probes' ring buffers. */
struct notifier {
	struct services *services;
	struct notifier_ring *rings;
	size_t ring_count;
	struct pollfd *fds; /* that of `stop`, then one of each ring */
	pthread_t thread;
	bool running;
	int stop; /* an eventfd; the thread exits when it is readable */
};

/* Starts the thread, unless it was started before or no probe has events. To be called with the
 * first reading: by then the plugins that receive notifications run. services and probes must
 * outlive the notifier. A negative errno: there are no notifications of events. */
int notifier_start(struct notifier *notifier, struct services *services, struct probe *probes,
		   size_t probe_count);

/* Stops the thread and waits for it. */
void notifier_stop(struct notifier *notifier);

#endif
