/* SPDX-License-Identifier: MIT */
/*
 * What the file of events says about a service that was restarted or deployed.
 */
#include "restart_event.h"

#include "dispatch.h"
#include "util/clock.h"

#include <stdio.h>

#define MINUTE_NS (60 * NS_PER_S)

static void describe_restart(const struct restart *restart, char *text, size_t size)
{
	unsigned long long minutes = restart->without_ns / MINUTE_NS;

	if (minutes)
		snprintf(text, size, "%s has processes again, after %llu min without any",
			 restart->service, minutes);
	else
		snprintf(text, size, "all processes of %s are new", restart->service);
}

void restart_events_record(struct services *services)
{
	struct restart restart;

	while (services->object.bpf && services_claim_restart(services, &restart)) {
		char text[256];

		describe_restart(&restart, text, sizeof(text));
		dispatch_event("restart", HEALTH_OKAY, restart.service, text,
			       clock_ns() - restart.time_ns);
	}
}
