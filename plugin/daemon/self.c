/* SPDX-License-Identifier: MIT */
/*
 * The plugin's own figures. What readings change is copied with the lock held; the other comes from
 * the kernel, and all of it is dispatched without a lock.
 */
#include "self.h"

#include "bpf/lib/services/service.h"
#include "config/name.h"
#include "dispatch.h"
#include "lacking.h"
#include "object/map_memory.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/message.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECT "self"

static bool read_program_info(int fd, struct bpf_prog_info *ret_info)
{
	uint32_t size = sizeof(*ret_info);

	*ret_info = (struct bpf_prog_info){ 0 };
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, ret_info, &size) == 0;
}

static void name_status(char *instance, size_t size, const char *name)
{
	snprintf(instance, size, "tier_%s", name);
}

void self_notify(enum health health, const char *name, const char *text)
{
	char instance[128];

	name_status(instance, sizeof(instance), name);
	dispatch_notification("probe", health, SUBJECT, "count", instance, text);
}

void self_notify_later(struct self *self, enum health health, const char *name, const char *text)
{
	struct notice *grown, *notice;

	lock_acquire(&self->lock);
	grown = reallocarray(self->notices, self->notice_count + 1, sizeof(*grown));
	if (grown) {
		self->notices = grown;
		notice = &grown[self->notice_count++];
		notice->health = health;
		snprintf(notice->name, sizeof(notice->name), "%s", name);
		snprintf(notice->text, sizeof(notice->text), "%s", text);
	}
	lock_release(&self->lock);
}

void self_report_off(struct self *self, int severity, const char *name, const char *text)
{
	message(severity, "%s", text);
	self_notify_later(self, severity == LOG_ERR ? HEALTH_FAILURE : HEALTH_WARNING, name, text);
}

/* A receiver may take any time, so no lock is held. */
static void send_notices(struct self *self)
{
	struct notice *notices;
	size_t count;

	lock_acquire(&self->lock);
	notices = self->notices;
	count = self->notice_count;
	self->notices = NULL;
	self->notice_count = 0;
	lock_release(&self->lock);
	for (size_t i = 0; i < count; i++)
		self_notify(notices[i].health, notices[i].name, notices[i].text);
	free(notices);
}

static void publish_status(const struct dispatch *dispatch, const char *name, unsigned hook_set)
{
	char instance[128];

	name_status(instance, sizeof(instance), name);
	dispatch_gauge(dispatch, SUBJECT, "count", instance, hook_set);
}

static void publish_named(const struct dispatch *dispatch, const char *type, const char *prefix,
			  const char *name, double gauge)
{
	char instance[128];

	snprintf(instance, sizeof(instance), "%s_%s", prefix, name);
	dispatch_gauge(dispatch, SUBJECT, type, instance, gauge);
}

static void publish_events(const struct dispatch *dispatch, const char *prefix, const char *name,
			   uint64_t count)
{
	struct value value = { .kind = SOURCE_DERIVE, .derive = (int64_t)count };
	char instance[128];

	snprintf(instance, sizeof(instance), "%s_%s", prefix, name);
	dispatch_values(dispatch, SUBJECT, "total_events", instance, &value, 1);
}

/* Events that no program was run for: the kernel does not run a program while an earlier run of it
 * on the same CPU is in progress. */
static void publish_missed(const struct dispatch *dispatch, const struct object *object,
			   const char *name)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, object->bpf)
	{
		struct bpf_prog_info info;

		if (read_program_info(bpf_program__fd(program), &info))
			missed += info.recursion_misses;
	}
	publish_events(dispatch, "missed", name, missed);
}

/* Rows in use of the fullest table whose rows are assigned on first use. */
static void publish_slots(const struct dispatch *dispatch, const struct probe *probe)
{
	uint32_t used = 0;
	bool any = false;

	for (size_t i = 0; i < probe->table_count; i++) {
		const struct rows *rows = &probe->tables[i].rows;
		uint32_t of_table = rows->owners.mapping.start ? rows_slots_used(rows) : 0;

		any |= rows->owners.mapping.start != NULL;
		used = of_table > used ? of_table : used;
	}
	if (any)
		publish_named(dispatch, "objects", "rows", probe->name, used);
}

/* Services without a row in the table where these are most, and rows returned by the services of
 * all tables. */
static void publish_unassigned(const struct dispatch *dispatch, const struct probe *probe)
{
	uint64_t returned = 0;
	bool any = false;

	for (size_t i = 0; i < probe->table_count; i++) {
		any |= probe->tables[i].rows.by_grant;
		returned += __atomic_load_n(&probe->tables[i].slots.returned, __ATOMIC_RELAXED);
	}
	if (!any)
		return;
	publish_named(dispatch, "objects", "services_without_row", probe->name,
		      probe_services_unassigned(probe));
	publish_events(dispatch, "rows_returned", probe->name, returned);
}

/* Refused by the object, and by tables of processes. */
static uint64_t count_refused(const struct probe *probe)
{
	uint64_t all = *probe->refused;

	for (size_t i = 0; i < probe->table_count; i++)
		all += __atomic_load_n(&probe->tables[i].refused, __ATOMIC_RELAXED);
	return all;
}

static void publish_keys(const struct dispatch *dispatch, const struct key_figures *figures,
			 const char *name)
{
	if (!figures->any)
		return;
	publish_named(dispatch, "objects", "keys", name, figures->shown);
	publish_named(dispatch, "objects", "other", name, figures->other);
	if (!isnan(figures->other_percent))
		publish_named(dispatch, "percent", "other", name, figures->other_percent);
}

static void publish_walk(const struct dispatch *dispatch, const char *name, uint64_t cost_ns)
{
	if (cost_ns)
		publish_named(dispatch, "duration", "walk", name,
			      (double)cost_ns / (double)NS_PER_S);
}

static void publish_probe(const struct dispatch *dispatch, struct services *services,
			  const struct probe *probe)
{
	struct key_figures keys;
	uint64_t walk_ns = __atomic_load_n(&probe->walk_ns, __ATOMIC_RELAXED);
	bool failing, off, paused = __atomic_load_n(&probe->paused, __ATOMIC_RELAXED);
	double read_s;

	if (!probe->object.bpf) {
		publish_status(dispatch, probe->name, 0);
		return;
	}
	lock_acquire(&services->lock);
	read_s = probe->read_s;
	failing = probe->failing;
	keys = probe->keys;
	lock_release(&services->lock);
	off = failing || (paused && !probe->on_threshold);
	publish_status(dispatch, probe->name, off ? 0 : probe->object.hook_set);
	if (read_s > 0 && !paused)
		publish_named(dispatch, "duration", "read", probe->name, read_s);
	publish_walk(dispatch, probe->name, walk_ns);
	publish_named(dispatch, "memory", "maps", probe->name,
		      (double)map_memory_of(&probe->object, &services->object));
	publish_slots(dispatch, probe);
	publish_unassigned(dispatch, probe);
	publish_keys(dispatch, &keys, probe->name);
	publish_missed(dispatch, &probe->object, probe->name);
	if (probe->refused)
		publish_events(dispatch, "refused", probe->name, count_refused(probe));
	if (probe->events_dropped)
		publish_events(dispatch, "events_dropped", probe->name, *probe->events_dropped);
	if (probe->events.count)
		publish_events(dispatch, "events_suppressed", probe->name,
			       __atomic_load_n(&probe->events_suppressed, __ATOMIC_RELAXED));
	if (probe->views.count)
		publish_events(dispatch, "stacks_lost", probe->name,
			       __atomic_load_n(&probe->stacks_lost, __ATOMIC_RELAXED));
}

static void publish_cost(const struct dispatch *dispatch, const struct probe *probe,
			 struct cost_mark *mark)
{
	struct cost cost;
	double percent;

	if (!probe->object.bpf || !cost_since(mark, probe, clock_ns(), &cost))
		return;
	percent = cost_percent(&cost, probe);
	if (!isnan(percent))
		publish_named(dispatch, "percent", "overhead", probe->name, percent);
}

static void publish_services(const struct dispatch *dispatch, struct services *services)
{
	uint64_t walk_ns = __atomic_load_n(&services->walk.cost_ns, __ATOMIC_RELAXED);
	const struct snapshot *snapshot;
	uint64_t names_refused;
	unsigned shown, hidden, unnamed;

	publish_status(dispatch, SELF_SERVICES, services->object.hook_set);
	if (!services->object.bpf)
		return;
	snapshot = services_acquire(services);
	shown = snapshot->shown;
	hidden = snapshot->hidden;
	unnamed = snapshot->unnamed;
	names_refused = snapshot->names_refused;
	services_release(services, snapshot);
	dispatch_gauge(dispatch, SUBJECT, "objects", "services", shown);
	dispatch_gauge(dispatch, SUBJECT, "objects", "services_other", hidden);
	dispatch_gauge(dispatch, SUBJECT, "objects", "services_without_name", unnamed);
	dispatch_gauge(dispatch, SUBJECT, "memory", "maps_services",
		       (double)map_memory_of(&services->object, NULL));
	publish_walk(dispatch, SELF_SERVICES, walk_ns);
	publish_missed(dispatch, &services->object, SELF_SERVICES);
	publish_events(dispatch, "names_refused", SELF_SERVICES, names_refused);
	publish_events(dispatch, "cgroups_refused", SELF_SERVICES,
		       services->counters->groups_refused);
	publish_events(dispatch, "refused", SELF_SERVICES,
		       services->counters->refused + services->counters->no_room);
	dispatch_gauge(dispatch, SUBJECT, "objects", "processes_without_row",
		       (double)services->counters->unassigned);
}

static void publish_runs(const struct dispatch *dispatch, struct run_statistics *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct program_runs run = run_statistics_of(runs, i);

		publish_named(dispatch, "operations_per_second", "run", run.name, run.rate);
		if (run.mean_s > 0)
			publish_named(dispatch, "duration", "run", run.name, run.mean_s);
	}
}

static void publish_samplers(const struct dispatch *dispatch, struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->count; i++) {
		struct sampled *sampled = &sampler->item[i];
		struct sampler_figures figures;

		if (!sampler_figures(sampled, clock_ns(), &figures))
			continue;
		publish_named(dispatch, "operations_per_second", "sample", sampled->name,
			      figures.hz);
		publish_named(dispatch, "percent", "sample", sampled->name, figures.percent);
		if (figures.mean_s > 0)
			publish_named(dispatch, "duration", "sample", sampled->name,
				      figures.mean_s);
	}
}

bool self_reserved(const char *name)
{
	return name_is_reserved(name) || !strcmp(name, SELF_SERVICES) ||
	       !strcmp(name, SELF_DIRECTORY);
}

int self_open(struct self *self, size_t probe_count)
{
	static const char *const types[] = {
		"count",   "duration",    "memory", "objects", "operations_per_second",
		"percent", "total_events"
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct metric_type ignored;

		dispatch_type_or_stock(types[i], &ignored);
		lacking_need(types[i]);
	}
	self->marks = calloc(probe_count + 1, sizeof(*self->marks));
	return self->marks ? 0 : -ENOMEM;
}

void self_read(struct self *self, struct services *services, struct probe *probes,
	       size_t probe_count, struct sampler *sampler, struct upkeep *upkeep,
	       size_t helpers_stuck, double interval_s)
{
	if (!dispatch_begin(&self->dispatch, interval_s))
		return;
	send_notices(self);
	for (size_t i = 0; i < probe_count; i++) {
		publish_probe(&self->dispatch, services, &probes[i]);
		publish_cost(&self->dispatch, &probes[i], &self->marks[i]);
	}
	publish_services(&self->dispatch, services);
	publish_samplers(&self->dispatch, sampler);
	dispatch_gauge(&self->dispatch, SUBJECT, "objects", "helpers_stuck", (double)helpers_stuck);
	if (run_statistics_is_recent(&upkeep->runs))
		publish_runs(&self->dispatch, &upkeep->runs);
}

void self_done(struct self *self)
{
	free(self->marks);
	self->marks = NULL;
	free(self->notices);
	self->notices = NULL;
	self->notice_count = 0;
}
