/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELF_H
#define EBPF_SELF_H

#include "dispatch.h"
#include "probe/cost.h"
#include "probe/probe.h"
#include "probe/sampler.h"
#include "probe/upkeep.h"
#include "service/service.h"

#include <pthread.h>
#include <stddef.h>

/* The plugin's figures about itself, under "ebpf-self". */
struct self {
	struct dispatch dispatch;
	struct cost_mark *marks; /* one for each probe */
	struct notice {
		enum health health;
		char name[CONFIG_NAME_MAX];
		char text[256];
	} * notices; /* to be sent with the next reading */
	size_t notice_count;
	pthread_mutex_t lock; /* of the notices */
};

/* Names of what is no probe but is reported like one. */
#define SELF_SERVICES UPKEEP_SERVICES
#define SELF_DIRECTORY "object_directory" /* an ObjectDirectory that cannot be read */

/* Sends a notification about count-tier_NAME of a probe, or of SELF_SERVICES. No lock may be
 * held. */
void self_notify(enum health health, const char *name, const char *text);

/* The same with the next reading: before the first one, the plugins that receive notifications may not
 * run, and upkeep must not wait for them. Any thread. */
void self_notify_later(struct self *self, enum health health, const char *name, const char *text);

/* Reports that a probe, or all of them, is off: in the log now, and as a notification with the first
 * reading. */
void self_report_off(struct self *self, int severity, const char *name, const char *text);

/* To be called when each probe is open or has failed to open. 0 or -ENOMEM. */
int self_open(struct self *self, size_t probe_count);

/* Is this name taken by the plugin's own figures, so that no probe can have it? */
bool self_reserved(const char *name);

/* Dispatches the state and the cost of the plugin. helpers_stuck: helpers that are set aside, because
 * a file does not answer. */
void self_read(struct self *self, struct services *services, struct probe *probes,
	       size_t probe_count, struct sampler *sampler, struct upkeep *upkeep,
	       size_t helpers_stuck, double interval_s);

void self_done(struct self *self);

#endif
