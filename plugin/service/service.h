/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_H
#define EBPF_SERVICE_H

#include "config/config.h"
#include "object/budget.h"
#include "object/object.h"
#include "resolve.h"
#include "subject/lifecycle.h"
#include "system/file.h"
#include "system/message.h"
#include "table/series.h"

#include <pthread.h>
#include <stdint.h>

struct service_counters;

/* The services of this machine, and what the probes have in common: the engine's own object, the
 * life of its rows, the processes that need more than the kernel to be told apart, memory and names
 * of series. */
struct services {
	pthread_mutex_t lock; /* of lifecycle and registry */
	const struct config *config;
	struct object object;
	struct budget budget; /* of all objects, this one and those of the probes */
	struct lifecycle lifecycle;
	struct registry registry; /* of the tables of all probes */
	struct service_counters *counters;
	struct resolver resolver;
};

/* Opens, loads and attaches the engine's own object; meets the processes that run. interval_s is
 * the plugin's; config and files stay the caller's. A negative errno of what the kernel refuses,
 * -ENOMEM, or -ENOSPC: it is more memory than allowed. */
int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_reader *files, struct error *error);

/* Hands the maps that the objects share to a probe's object, before load. -EINVAL: they do not
 * agree on what is in them. */
int services_share(const struct services *services, struct object *object, struct error *error);

/* Brings names, rows of services and of processes up to date; now_ns of CLOCK_BOOTTIME. To be
 * called with the lock held. */
void services_refresh(struct services *services, uint64_t now_ns);

void services_done(struct services *services);

#endif
