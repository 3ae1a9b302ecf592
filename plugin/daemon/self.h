/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELF_H
#define EBPF_SELF_H

#include "dispatch.h"
#include "probe/cost.h"
#include "probe/probe.h"
#include "probe/run_statistics.h"
#include "probe/sampler.h"
#include "service/service.h"

#include <stddef.h>

/* The plugin's figures about itself, under "ebpf-self". */
struct self {
	struct dispatch dispatch;
	struct run_statistics runs;
	uint64_t noted_ns;       /* time of the sample that the probes have got last */
	struct cost_mark *marks; /* one for each probe */
	struct notice {
		enum health health;
		char name[CONFIG_NAME_MAX];
		char text[256];
	} * notices; /* to be sent with the first reading */
	size_t notice_count;
};

/* Names of what is no probe but is reported like one. */
#define SELF_SERVICES "services"
#define SELF_DIRECTORY "object_directory" /* an ObjectDirectory that cannot be read */

/* Sends a notification about count-tier_NAME of a probe, or of SELF_SERVICES. No lock may be
 * held. */
void self_notify(enum health health, const char *name, const char *text);

/* The same with the first reading: by then the plugins that receive notifications run. */
void self_notify_later(struct self *self, enum health health, const char *name, const char *text);

/* Reports that a probe, or all of them, is off: in the log now, and as a notification with the first
 * reading. */
void self_report_off(struct self *self, int severity, const char *name, const char *text);

/* To be called when each probe is open or has failed to open; the probes must outlive it. 0 or
 * -ENOMEM. */
int self_open(struct self *self, const struct services *services, const struct probe *probes,
	      size_t probe_count);

/* Is this name taken by the plugin's own figures, so that no probe can have it? */
bool self_reserved(const char *name);

/* Dispatches the state and the cost of the plugin. Sleeps for about a second now and then, without
 * a lock: see run_statistics_read(). */
void self_read(struct self *self, struct services *services, struct probe *probes,
	       size_t probe_count, struct sampler *sampler, double interval_s);

void self_done(struct self *self);

#endif
