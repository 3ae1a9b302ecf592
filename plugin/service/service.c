/* SPDX-License-Identifier: MIT */
/*
 * Services: the engine's own object and all that works on it. The kernel gives every process the row of its
 * service, by the rules of the configuration; the resolver helps where that needs files.
 */
#include "service.h"

#include "cgroup/description.h"
#include "cgroup/match.h"

#include "attach/attach.h"
#include "bpf/lib/services/service.h"
#include "object/engine_object.h"
#include "object/shared_map.h"
#include "process_row.h"
#include "response_map.h"
#include "row_name.h"
#include "rule.h"
#include "util/clock.h"
#include "util/lock.h"

#include <errno.h>
#include <string.h>

#define LOG_AGAIN_NS (3600 * NS_PER_S)
#define NAME_NS_MAX (250 * 1000000ULL) /* for naming rows, in one call */
#define NAME_START_NS_MAX (3 * NS_PER_S)

/* Before load_services. */
static int prepare_services(struct services *services, double interval_s, struct error *error)
{
	const struct config *config = services->config;
	struct lifecycle *lifecycle = &services->lifecycle;
	int status = lifecycle_prepare(lifecycle, config, &services->object, interval_s, error);

	status = status ?: process_rows_prepare(lifecycle, error);
	status = status ?: walk_prepare(&services->object, error);
	if (status)
		return status;
	object_set(&services->object, "service_rows", lifecycle->row_count);
	object_set(&services->object, "reserve_begin", lifecycle->reserve_begin);
	status = rules_prepare(config, &services->object, error);
	return status ?: responses_prepare(config, &services->object, error);
}

static int load_services(struct services *services, struct error *error)
{
	struct demand demand = { 0 };
	int status;

	demand_add_maps(&demand, &services->object, false);
	status = budget_reserve(&services->budget, &demand, error);
	status = status ?: object_load(&services->object, error);
	if (status)
		return status;
	services->counters =
		object_variable(&services->object, "service_counters", sizeof(*services->counters));
	return services->counters ? 0 : error_set(error, -ENOENT, "cannot find its counters");
}

static int start_services(struct services *services, struct error *error)
{
	int status = lifecycle_start(&services->lifecycle, error);

	status = status ?: process_rows_start(&services->lifecycle, error);
	status = status ?: rules_fill(services->config, &services->object, error);
	status = status ?: responses_fill(services->config, &services->object, error);
	status = status ?: walk_open(&services->walk, &services->object, error);
	return status ?: attach_sections(&services->object, error);
}

static int start_resolver(struct services *services, struct file_helper *files, struct error *error)
{
	struct resolver *resolver = &services->resolver;

	resolver->config = services->config;
	resolver->object = &services->object;
	resolver->counters = services->counters;
	resolver->free_rows = &services->lifecycle.free_rows;
	resolver->files = files;
	resolver->names = &services->names;
	resolver->rows = services->lifecycle.kernel_rows;
	resolver->row_count = services->lifecycle.row_count;
	runtimes_start(&services->names.containers.runtimes, &services->config->container_states,
		       files);
	return resolver_start(resolver, error);
}

/* --- names of rows --- */

static bool find_unnamed_row(struct services *services, uint32_t *row, struct group_key *ret_key)
{
	bool found;

	lock_acquire(&services->lock);
	found = row_name_wanted(&services->lifecycle, services->names.containers.round, row,
				ret_key);
	lock_release(&services->lock);
	return found;
}

static void name_row(struct services *services, uint32_t row, const struct group_key *key)
{
	bool is_source = services->config->services_from & service_source_of(key->kind);
	struct group_description description;
	int status = group_describe(key, &services->names.users, &services->names.containers,
				    services->resolver.files, &description);
	struct row_name name = {
		.key = *key,
		.round = services->names.containers.round,
		.is_settled = status != -EAGAIN,
		.is_nameless = description.is_sandbox || !is_source,
		.is_id = description.is_id,
		.service = group_row(services->config, key, &description),
		.workload = description.workload,
	};
	bool was_id, is_id;

	fits_group(&services->resolver.fits, key, &description);
	memcpy(name.name, description.name, sizeof(name.name));
	memcpy(name.other_name, description.other_name, sizeof(name.other_name));
	lock_acquire(&services->lock);
	was_id = row_name_is_id(&services->lifecycle, row);
	row_name_set(&services->lifecycle, row, &name);
	is_id = row_name_is_id(&services->lifecycle, row);
	lock_release(&services->lock);
	if (is_id && !was_id)
		unnamed_add(&services->unnamed, name.name);
}

static void complete_row_names(struct services *services)
{
	lock_acquire(&services->lock);
	row_names_complete(&services->lifecycle);
	lock_release(&services->lock);
}

/* Stops when the time is up; names at least one row. false: there are more. */
static bool name_rows(struct services *services, uint64_t ns_max)
{
	uint64_t end_ns = clock_ns() + ns_max;
	uint32_t row = SERVICE_FIRST;
	struct group_key key;

	for (; find_unnamed_row(services, &row, &key); row++) {
		name_row(services, row, &key);
		if (clock_ns() > end_ns)
			return false;
	}
	complete_row_names(services);
	return true;
}

int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_helper *files, struct file_helper *probe_files, struct error *error)
{
	int status;

	*services = (struct services){ .config = config, .probe_files = probe_files };
	pthread_mutex_init(&services->lock, NULL);
	pthread_rwlock_init(&services->walk.lock, NULL);
	name_tables_init(&services->names);
	device_names_choose(&services->names.devices, &config->disk_names);
	services->budget.limit = config->max_memory_mib * BUDGET_MIB;
	status = engine_object_open(&services->object, error);
	status = status ?: prepare_services(services, interval_s, error);
	status = status ?: load_services(services, error);
	status = status ?: start_services(services, error);
	status = status ?: start_resolver(services, files, error);
	service_cgroups_init(&services->service_cgroups, config, &services->names.users,
			     &services->names.containers, services->lifecycle.kernel_rows,
			     services->lifecycle.row_count);
	if (status) {
		services_done(services);
		return status;
	}
	cgroup_rows_init(&services->cgroup_rows, &services->object);
	name_rows(services, NAME_START_NS_MAX);
	services_refresh(services, clock_ns());
	if (!services->snapshot) {
		services_done(services);
		return error_set(error, -ENOMEM, "no memory");
	}
	lifecycle_accept(&services->lifecycle);
	return 0;
}

int services_prepare_object(const struct services *services, struct object *object,
			    struct error *error)
{
	int status = shared_maps_reuse(&services->object, object, error);

	status = status ?: walk_exempt(object, error);
	if (status)
		return status;
	if (object_variable(object, "configured_end", sizeof(uint32_t)) &&
	    !services->config->service_count)
		return error_set(error, -ENOENT,
				 "it counts only for services of Service blocks, and there are no "
				 "such blocks");
	object_set(object, "configured_end", SERVICE_FIRST + services->config->service_count);
	object_set(object, "service_rows", services->lifecycle.row_count);
	object_set(object, "process_rows_max", services->lifecycle.process_row_count);
	object_set(object, "watch_other", services->config->services_from != 0);
	object_set(object, "responses_wanted", config_has_responses(services->config));
	return 0;
}

/* --- snapshots; with the lock held --- */

static struct snapshot *acquire_snapshot(struct services *services)
{
	if (services->snapshot)
		services->snapshot->users++;
	return services->snapshot;
}

static void release_snapshot(struct snapshot *snapshot)
{
	if (snapshot && --snapshot->users == 0)
		snapshot_free(snapshot);
}

static void refresh_snapshot(struct services *services, uint64_t now_ns)
{
	struct lifecycle *lifecycle = &services->lifecycle;
	struct snapshot *snapshot = lifecycle_snapshot(lifecycle);

	if (!snapshot)
		return;
	/* Another thread may have refreshed meanwhile. */
	if (services->snapshot && now_ns < services->snapshot->made_ns)
		now_ns = services->snapshot->made_ns;
	lifecycle_refresh(lifecycle, now_ns);
	process_rows_refresh(lifecycle, now_ns);
	restarts_update(&services->restarts, lifecycle, now_ns);
	lifecycle_fill(lifecycle, snapshot, now_ns);
	snapshot->users = 1;
	snapshot->other_unwatched = lifecycle->config->services_from == 0;
	release_snapshot(services->snapshot);
	services->snapshot = snapshot;
	__atomic_store_n(&services->any_late, subscribers_any_late(&lifecycle->subscribers),
			 __ATOMIC_RELAXED);
}

static bool is_snapshot_old(uint64_t now_ns, uint64_t then_ns, double interval_s)
{
	return (double)(now_ns - then_ns) > interval_s / 2 * (double)NS_PER_S;
}

/* --- without the lock --- */

void services_refresh(struct services *services, uint64_t now_ns)
{
	lock_acquire(&services->lock);
	refresh_snapshot(services, now_ns);
	lock_release(&services->lock);
}

/* At most once an hour: how many names were refused since the last time; 0: nothing to log. */
static uint64_t count_names_refused(struct services *services, uint64_t now_ns)
{
	uint64_t all, more = 0;

	lock_acquire(&services->lock);
	all = services->lifecycle.names_refused;
	if (!services->logged_ns || now_ns - services->logged_ns > LOG_AGAIN_NS)
		more = all - services->names_refused_logged;
	if (more) {
		services->names_refused_logged = all;
		services->logged_ns = now_ns;
	}
	lock_release(&services->lock);
	return more;
}

static void log_names_refused(struct services *services, uint64_t now_ns)
{
	uint64_t more = count_names_refused(services, now_ns);

	if (more)
		message(LOG_WARNING,
			"more new services than MaxNewServices %u allows per hour: %llu are "
			"counted under \"other\" until there may be new ones again; raise it, or "
			"name the services that matter in Service blocks",
			config_new_services(services->config), (unsigned long long)more);
}

static bool claim_clash(struct services *services, uint64_t now_ns, struct error *ret_clash)
{
	bool found;

	lock_acquire(&services->lock);
	found = subjects_claim_clash(&services->lifecycle.subjects, now_ns, ret_clash);
	lock_release(&services->lock);
	return found;
}

static void log_clashes(struct services *services, uint64_t now_ns)
{
	struct error clash;

	while (claim_clash(services, now_ns, &clash))
		message(LOG_NOTICE, "%s", clash.text);
}

bool services_claim_restart(struct services *services, struct restart *ret_restart)
{
	bool found;

	lock_acquire(&services->lock);
	found = restarts_claim(&services->restarts, ret_restart);
	lock_release(&services->lock);
	return found;
}

bool services_resolve(struct services *services, uint64_t now_ns)
{
	bool is_complete;

	resolver_run(&services->resolver, now_ns);
	is_complete = !resolver_is_unfinished(&services->resolver);
	is_complete &= name_rows(services, NAME_NS_MAX);
	service_cgroups_update(&services->service_cgroups, services->counters,
			       services->resolver.files, now_ns);
	log_names_refused(services, now_ns);
	log_clashes(services, now_ns);
	unnamed_log(&services->unnamed, &services->names.containers.runtimes, now_ns);
	return is_complete;
}

const struct snapshot *services_begin(struct services *services, int subscriber, double interval_s)
{
	const struct snapshot *snapshot;
	uint64_t now_ns;

	lock_acquire(&services->lock);
	now_ns = clock_ns();
	if (!services->snapshot || is_snapshot_old(now_ns, services->snapshot->made_ns, interval_s))
		refresh_snapshot(services, now_ns);
	snapshot = acquire_snapshot(services);
	if (snapshot)
		subscribers_begin(&services->lifecycle.subscribers, subscriber, snapshot->made_ns);
	lock_release(&services->lock);
	return snapshot;
}

void services_read(struct services *services, int subscriber, const struct snapshot *snapshot,
		   uint64_t begin_ns)
{
	lock_acquire(&services->lock);
	subscribers_read(&services->lifecycle.subscribers, subscriber, begin_ns);
	release_snapshot((struct snapshot *)snapshot);
	lock_release(&services->lock);
}

const struct snapshot *services_acquire(struct services *services)
{
	const struct snapshot *snapshot;

	lock_acquire(&services->lock);
	snapshot = acquire_snapshot(services);
	lock_release(&services->lock);
	return snapshot;
}

void services_release(struct services *services, const struct snapshot *snapshot)
{
	lock_acquire(&services->lock);
	release_snapshot((struct snapshot *)snapshot);
	lock_release(&services->lock);
}

/* The first late subscriber from this one on, -1: none. */
static int find_late_subscriber(struct services *services, size_t from, struct subscriber *ret_late)
{
	const struct subscribers *subscribers = &services->lifecycle.subscribers;
	int found = -1;

	lock_acquire(&services->lock);
	for (size_t i = from; i < subscribers->count && found < 0; i++)
		if (subscribers->item[i].used && subscribers->item[i].late) {
			*ret_late = subscribers->item[i];
			found = (int)i;
		}
	lock_release(&services->lock);
	return found;
}

void services_catch_up(struct services *services, uint64_t now_ns)
{
	struct subscriber late;
	bool any = false;

	if (!__atomic_exchange_n(&services->any_late, false, __ATOMIC_RELAXED))
		return;
	for (int i = 0; (i = find_late_subscriber(services, (size_t)i, &late)) >= 0; i++) {
		if (!late.catch_up(late.of))
			continue;
		any = true;
		lock_acquire(&services->lock);
		subscribers_catch_up(&services->lifecycle.subscribers, i, now_ns);
		lock_release(&services->lock);
	}
	if (any)
		services_refresh(services, now_ns);
}

void services_done(struct services *services)
{
	release_snapshot(services->snapshot);
	restarts_done(&services->restarts);
	lifecycle_done(&services->lifecycle);
	walk_done(&services->walk);
	object_done(&services->object);
	resolver_done(&services->resolver);
	service_cgroups_done(&services->service_cgroups);
	name_tables_done(&services->names);
	registry_done(&services->registry);
	pthread_mutex_destroy(&services->lock);
	pthread_rwlock_destroy(&services->walk.lock);
	*services = (struct services){ 0 };
}
