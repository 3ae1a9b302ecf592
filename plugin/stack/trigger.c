/* SPDX-License-Identifier: MIT */
/*
 * Profiles that a threshold starts must not cost more the worse things are: a service that is
 * beyond its threshold all day has one profile in ten minutes.
 */
#include "trigger.h"

#include "util/clock.h"

#include <stdio.h>
#include <string.h>

#define PAUSE_NS (600 * NS_PER_S)

static void drop_old_triggers(struct trigger *trigger, uint64_t now_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < trigger->count; i++)
		if (now_ns - trigger->triggered[i].began_ns < PAUSE_NS)
			trigger->triggered[count++] = trigger->triggered[i];
	trigger->count = count;
}

static const struct triggered *find_triggered(const struct trigger *trigger, const char *service)
{
	for (size_t i = 0; i < trigger->count; i++)
		if (!strcmp(trigger->triggered[i].service, service))
			return &trigger->triggered[i];
	return NULL;
}

bool trigger_start(struct trigger *trigger, const char *service, uint64_t now_ns)
{
	struct triggered *new;

	drop_old_triggers(trigger, now_ns);
	if (find_triggered(trigger, service) || trigger->count == TRIGGER_SERVICES_MAX)
		return false;
	new = &trigger->triggered[trigger->count++];
	snprintf(new->service, sizeof(new->service), "%s", service);
	new->began_ns = now_ns;
	return true;
}

static bool is_running(const struct trigger *trigger, const struct triggered *triggered,
		       uint64_t now_ns)
{
	return now_ns - triggered->began_ns < trigger->length_ns;
}

bool trigger_has(const struct trigger *trigger, const char *service, uint64_t now_ns)
{
	const struct triggered *triggered = find_triggered(trigger, service);

	return triggered && is_running(trigger, triggered, now_ns);
}

bool trigger_any(const struct trigger *trigger, uint64_t now_ns)
{
	for (size_t i = 0; i < trigger->count; i++)
		if (is_running(trigger, &trigger->triggered[i], now_ns))
			return true;
	return false;
}
