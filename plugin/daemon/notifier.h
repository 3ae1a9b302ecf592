/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NOTIFIER_H
#define EBPF_NOTIFIER_H

#include "probe/probe.h"
#include "service/service.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct notifier_ring;

/* One thread that makes notifications of what the probes' ring buffers hold. */
struct notifier {
	struct services *services;
	struct notifier_ring *rings;
	size_t ring_count;
	pthread_t thread;
	bool running;
	int stop; /* an eventfd: the thread ends when it is readable */
};

/* Begins, unless it has begun already, or no probe has events. When the plugins that take
 * notifications are up: with the first reading. services and probes outlive it. A negative errno:
 * there will be no notifications of events. */
int notifier_start(struct notifier *notifier, struct services *services, struct probe *probes,
		   size_t probe_count);

/* Ends the thread, and waits for it. */
void notifier_stop(struct notifier *notifier);

/* Takes what is there now; says when it wants to be called again though nothing comes, in ns of
 * CLOCK_BOOTTIME. For the thread, and for tests. */
uint64_t notifier_take(struct notifier *notifier, uint64_t now_ns);

#endif
