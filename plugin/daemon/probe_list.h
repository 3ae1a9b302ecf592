/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_LIST_H
#define EBPF_PROBE_LIST_H

#include "probe/probe.h"
#include "probe/probe_mistake.h"
#include "publication.h"
#include "self.h"

#include <stddef.h>

/* All probes, also those that are off: these have no object. */
struct probe_list {
	struct probe *probes;
	struct publication *publications; /* of the probe with the same index */
	size_t count;
	const struct config *config;
	double interval_s; /* of probes without one of their own */
	struct services *services;
	struct self *self; /* reports probes that are off */
	struct off_by_default off;
};

/* Opens the objects of the directory and of the configuration. Reports those that fail to open and blocks without an
 * object. Without the engine's own object (services) no probe is on. config, services and self must outlive the list. */
void probe_list_open(struct probe_list *list, const struct config *config, double interval_s,
		     struct services *services, struct self *self);

void probe_list_done(struct probe_list *list);

#endif
