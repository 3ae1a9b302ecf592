/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELF_H
#define EBPF_SELF_H

#include "dispatch.h"
#include "probe/cost.h"
#include "probe/probe.h"
#include "probe/runs.h"
#include "probe/sampler.h"
#include "service/service.h"

#include <stddef.h>

/* What the plugin tells of itself, under "ebpf-self". */
struct self {
	struct dispatch dispatch;
	struct runs runs;
	uint64_t noted_ns;       /* when the sample of them was taken that probes know */
	struct cost_mark *marks; /* of the probes */
	struct notice {
		enum health health;
		char name[CONFIG_NAME_MAX];
		char text[256];
	} * notices; /* that are to be sent with the first reading */
	size_t notice_count;
};

/* As probes would be called. */
#define SELF_SERVICES "services"
#define SELF_DIRECTORY "object_directory" /* that cannot be read */

/* Notifies collectd of a probe, or of SELF_SERVICES, about its count-tier_NAME. With no lock
 * held. */
void self_notify(enum health health, const char *name, const char *text);

/* The same with the first reading, when the plugins that take notifications are up. */
void self_notify_later(struct self *self, enum health health, const char *name, const char *text);

/* All of them are open, or off, and stay so. 0 or -ENOMEM. */
int self_open(struct self *self, const struct services *services, const struct probe *probes,
	      size_t probe_count);

/* Can no probe be called so, as the plugin's own figures have this name? */
bool self_reserved(const char *name);

/* Dispatches what the plugin costs and how it is. Now and then this takes a second,
 * without the lock: see runs_read. */
void self_read(struct self *self, struct services *services, struct probe *probes,
	       size_t probe_count, struct sampler *sampler, double interval_s);

void self_done(struct self *self);

#endif
