/* SPDX-License-Identifier: MIT */
/*
 * What this machine's services come to in series, which is what receivers store. Each service has
 * series of its own, so an operator who adds some wants to know what one costs.
 */
#include "summary.h"

#include "schema/series.h"
#include "util/message.h"

#define READINGS 2 /* the first one has no rates, means or percentiles */

struct summary {
	unsigned configured, groups, commands; /* services */
	size_t series;                         /* of all probes */
	size_t each;                           /* of one service, at most */
};

/* Rows of a unit or a container may be of a Service block. */
static void count_services(struct summary *summary, struct services *services)
{
	const struct snapshot *snapshot = services_take(services);

	summary->configured = (unsigned)services->config->service_count;
	for (uint32_t row = 0; row < snapshot->row_count; row++) {
		int subject =
			snapshot_is_shown(snapshot, row) ? snapshot_subject(snapshot, row) : -1;
		enum subject_kind kind =
			subject < 0 ? SUBJECT_NONE : snapshot->subjects.subject[subject].kind;

		summary->groups +=
			kind == SUBJECT_UNIT || kind == SUBJECT_CONTAINER || kind == SUBJECT_USER;
		summary->commands += kind == SUBJECT_COMMAND;
	}
	services_release(services, snapshot);
}

/* Of a service, without what keys add. */
static size_t count_each(struct services *services, const struct probe *probe)
{
	const struct registry *registry = &services->registry;
	size_t series = 0;

	pthread_mutex_lock(&services->lock);
	for (size_t i = 0; i < registry->count; i++)
		if (registry->set[i].owner == probe &&
		    registry->set[i].rows.kind == SUBJECT_SERVICE)
			series += registry->set[i].count;
	pthread_mutex_unlock(&services->lock);
	return series;
}

/* false: it runs, and has not told enough yet. */
static bool count_series(struct summary *summary, struct services *services,
			 const struct probe *probe)
{
	if (!probe->object.bpf || __atomic_load_n(&probe->paused, __ATOMIC_RELAXED))
		return true;
	if (__atomic_load_n(&probe->dispatched, __ATOMIC_ACQUIRE) < READINGS)
		return false;
	summary->series += __atomic_load_n(&probe->series, __ATOMIC_RELAXED);
	summary->each += count_each(services, probe);
	return true;
}

bool summary_tell(struct services *services, const struct probe *probes, size_t probe_count)
{
	struct summary summary = { 0 };

	if (!services->object.bpf)
		return true;
	for (size_t i = 0; i < probe_count; i++)
		if (!count_series(&summary, services, &probes[i]))
			return false;
	count_services(&summary, services);
	message(LOG_INFO,
		"services: %u (%u of Service blocks, %u units, users and containers, %u command "
		"names); series of probes: %zu so far, up to %zu of each service",
		summary.configured + summary.groups + summary.commands, summary.configured,
		summary.groups, summary.commands, summary.series, summary.each);
	return true;
}
