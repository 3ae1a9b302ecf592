/* SPDX-License-Identifier: MIT */
/*
 * How many series the services of this machine have, which is what receivers store. Each service
 * adds its own series, so the log says what one more costs.
 */
#include "summary.h"

#include "schema/series.h"
#include "util/lock.h"
#include "util/message.h"

#define READINGS 2 /* the first reading has no rates, means or percentiles */

struct summary {
	unsigned configured, groups, commands; /* services by kind */
	size_t series;                         /* of all probes */
	size_t each;                           /* of one service, at most */
};

/* Rows of units or containers that belong to a Service block have a subject of another kind, and
 * are not counted here. The rows of replicas are one service. */
static void count_services_by_kind(struct summary *summary, struct services *services)
{
	const struct snapshot *snapshot = services_acquire(services);

	summary->configured = (unsigned)services->config->service_count;
	for (uint32_t row = 0; row < snapshot->row_count; row++) {
		bool counts = snapshot_is_shown(snapshot, row) &&
			      snapshot_first_row(snapshot, row) == row;
		int subject = counts ? snapshot_subject(snapshot, row) : -1;
		enum subject_kind kind =
			subject < 0 ? SUBJECT_NONE : snapshot->subjects.subject[subject].kind;

		summary->groups +=
			kind == SUBJECT_UNIT || kind == SUBJECT_CONTAINER || kind == SUBJECT_USER;
		summary->commands += kind == SUBJECT_COMMAND;
	}
	services_release(services, snapshot);
}

/* Series of one service, without those that keys add. */
static size_t count_each(struct services *services, const struct probe *probe)
{
	const struct registry *registry = &services->registry;
	size_t series = 0;

	lock_acquire(&services->lock);
	for (size_t i = 0; i < registry->count; i++)
		if (registry->set[i].owner == probe &&
		    registry->set[i].rows.kind == SUBJECT_SERVICE)
			series += registry->set[i].count;
	lock_release(&services->lock);
	return series;
}

/* false: the probe runs and has not dispatched enough readings. */
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

bool summary_log(struct services *services, const struct probe *probes, size_t probe_count)
{
	struct summary summary = { 0 };

	if (!services->object.bpf)
		return true;
	for (size_t i = 0; i < probe_count; i++)
		if (!count_series(&summary, services, &probes[i]))
			return false;
	count_services_by_kind(&summary, services);
	message(LOG_INFO,
		"services: %u (%u of Service blocks, %u units, users and containers, %u command "
		"names); series of probes: %zu so far, up to %zu of each service",
		summary.configured + summary.groups + summary.commands, summary.configured,
		summary.groups, summary.commands, summary.series, summary.each);
	return true;
}
