/* SPDX-License-Identifier: MIT */
/*
 * Services from the engine's side: which rows of the kernel have series of
 * their own, and when a row is free for another name.
 *
 * A command name takes a row in the kernel at once (hidden: it counts under
 * "other") and earns series when it has lived for an interval or used much of
 * something. When its processes are gone it is retired: first the name is
 * taken away, so that nothing new enters the row, then all tables take its growth
 * once more, then it goes back into the kernel's queue. No row waits for a probe
 * that reads rarely or not at all: its tables are brought up to date, and it
 * dispatches what they have when it reads. The subject of a service that had series
 * stays until receivers have forgotten them: should the name come back before, its
 * counters go on where they were.
 */
#include "service.h"

#include "object/image.h"
#include "object/share.h"
#include "rule.h"
#include "system/clock.h"

#include "bpf/lib/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GONE_INTERVALS 10     /* after which a service is no longer dispatched */
#define FORGOTTEN_INTERVALS 3 /* after which collectd knows no last value (Timeout), nor RRD */
#define PROCESS_ROWS_PER_SERVICE 1024
#define PROCESS_ROWS_MAX 8192 /* the verifier follows the walk over all of them */

static struct bpf_map *map_named(const struct services *services, const char *name)
{
	return bpf_object__find_map_by_name(services->object.bpf, name);
}

/* --- opening --- */

static size_t mapping_size(const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	return (size + page - 1) / page * page;
}

static void *map_rows(struct services *services, const char *name)
{
	struct bpf_map *map = map_named(services, name);
	void *rows = mmap(NULL, mapping_size(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			  bpf_map__fd(map), 0);

	return rows == MAP_FAILED ? NULL : rows;
}

static void unmap_rows(struct services *services, const char *name, void *rows)
{
	if (rows)
		munmap(rows, mapping_size(map_named(services, name)));
}

static int prepare(struct services *services, struct error *error)
{
	const struct config *config = services->config;
	bool names = config_command_names(config);
	uint32_t free_rows = names ? config->max_services : 0;
	int status;

	services->row_count = SERVICE_FIRST + (uint32_t)config->service_count + free_rows;
	services->process_row_count = 1;
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].per_process &&
		    services->process_row_count < PROCESS_ROWS_MAX)
			services->process_row_count += PROCESS_ROWS_PER_SERVICE;
	services->states = calloc(services->row_count, sizeof(*services->states));
	services->process_rows =
		calloc(services->process_row_count, sizeof(*services->process_rows));
	if (!services->states || !services->process_rows)
		return error_set(error, -ENOMEM, "no memory");
	object_set(&services->object, "command_names", names);
	object_set(&services->object, "service_rows", services->row_count);
	status = bpf_map__set_max_entries(map_named(services, "services"), services->row_count);
	status = status
			 ?: bpf_map__set_max_entries(map_named(services, "service_free"),
						     free_rows + 1);
	status = status
			 ?: bpf_map__set_max_entries(map_named(services, "process_labels"),
						     services->process_row_count);
	status = status
			 ?: bpf_map__set_max_entries(map_named(services, "process_free"),
						     services->process_row_count);
	if (status)
		return error_set(error, status, "cannot size the maps: %s", strerror(-status));
	return rules_prepare(config, &services->object, error);
}

static int fix_row(struct services *services, uint32_t row, const char *name)
{
	int subject = subjects_enter(&services->subjects, SUBJECT_SERVICE, name);

	if (subject < 0)
		return subject;
	services->states[row] =
		(struct service_state){ .state = ROW_SHOWN, .subject = subject, .fixed = true };
	return 0;
}

static const char *name_of(const struct services *services, uint32_t row)
{
	return services->subjects.subject[services->states[row].subject].name;
}

static int fix_rows(struct services *services)
{
	const struct config *config = services->config;
	int status = subjects_take(&services->subjects, SUBJECT_NONE, "self", 0);

	status = status ?: fix_row(services, SERVICE_OTHER, "other");
	status = status ?: fix_row(services, SERVICE_KERNEL, "kernel");
	for (size_t i = 0; i < config->service_count && status == 0; i++) {
		uint32_t row = SERVICE_FIRST + (uint32_t)i;

		status = fix_row(services, row, config->services[i].name);
		if (!config->services[i].per_process || status)
			continue;
		services->kernel_rows[row].flags |= SERVICE_PER_PROCESS;
		/* As enter_process() makes them. */
		status = subjects_take(&services->subjects, SUBJECT_PROCESS, name_of(services, row),
				       2);
	}
	return status;
}

static int fill(struct services *services, struct error *error)
{
	const struct config *config = services->config;
	int free_rows = bpf_map__fd(map_named(services, "service_free"));
	int free_processes = bpf_map__fd(map_named(services, "process_free"));
	uint32_t row = SERVICE_FIRST + (uint32_t)config->service_count;
	int status = fix_rows(services);

	for (; row < services->row_count && status == 0; row++)
		if (bpf_map_update_elem(free_rows, NULL, &row, 0) != 0)
			status = -errno;
	for (uint32_t process = 0; process < services->process_row_count && status == 0;
	     process++) {
		services->process_rows[process].subject = -1;
		if (process && bpf_map_update_elem(free_processes, NULL, &process, 0) != 0)
			status = -errno;
	}
	if (status)
		return error_set(error, status, "cannot fill the maps: %s", strerror(-status));
	return rules_fill(config, &services->object, error);
}

static int start(struct services *services, struct error *error)
{
	struct demand demand = { 0 };
	int status;

	demand_add_maps(&demand, &services->object, false);
	status = budget_take(&services->budget, &demand, error);
	status = status ?: object_load(&services->object, error);
	if (status)
		return status;
	services->kernel_rows = map_rows(services, "services");
	services->kernel_labels = map_rows(services, "process_labels");
	services->counters =
		object_variable(&services->object, "service_counters", sizeof(*services->counters));
	if (!services->kernel_rows || !services->kernel_labels || !services->counters)
		return error_set(error, -errno, "cannot map the rows: %s", strerror(errno));
	status = fill(services, error);
	return status ?: object_attach(&services->object, error);
}

/* Names that were there when the plugin started have lived long enough. */
static void meet(struct services *services)
{
	services_refresh(services, clock_ns());
	for (uint32_t i = 0; i < services->row_count; i++)
		if (services->states[i].state == ROW_HIDDEN)
			services->states[i].since_ns = 0;
}

int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_reader *files, struct error *error)
{
	int status;

	*services = (struct services){ .config = config };
	pthread_mutex_init(&services->lock, NULL);
	pthread_mutex_init(&services->resolver.lock, NULL);
	services->interval_ns = (uint64_t)(interval_s * NS_PER_S);
	services->budget.limit = config->max_memory_mib * BUDGET_MIB;
	status = image_open(&services->object, error);
	status = status ?: prepare(services, error);
	status = status ?: start(services, error);
	status = status ?: resolver_start(services, files, error);
	if (status)
		services_done(services);
	else
		meet(services);
	return status;
}

int services_share(const struct services *services, struct object *object, struct error *error)
{
	int status = share_maps(&services->object, object, error);

	if (status)
		return status;
	object_set(object, "service_rows", services->row_count);
	object_set(object, "process_rows_max", services->process_row_count);
	object_set(object, "watch_other", config_command_names(services->config));
	return 0;
}

/* --- subscribers --- */

int services_subscribe(struct services *services, double interval_s, void (*catch_up)(void *of),
		       void *of)
{
	struct subscriber subscriber = {
		.interval_ns = (uint64_t)(interval_s * NS_PER_S),
		.catch_up = catch_up,
		.of = of,
		.used = true,
	};
	struct subscriber *grown;

	for (size_t i = 0; i < services->subscriber_count; i++)
		if (!services->subscribers[i].used) {
			services->subscribers[i] = subscriber;
			return (int)i;
		}
	grown = reallocarray(services->subscribers, services->subscriber_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	services->subscribers = grown;
	grown[services->subscriber_count] = subscriber;
	return (int)services->subscriber_count++;
}

void services_unsubscribe(struct services *services, int subscriber)
{
	if (subscriber >= 0)
		services->subscribers[subscriber].used = false;
}

void services_read(struct services *services, int subscriber, uint64_t now_ns)
{
	if (subscriber >= 0)
		services->subscribers[subscriber].read_ns =
			services->subscribers[subscriber].seen_ns = now_ns;
}

/* Later than so many of their intervals after this time. */
static bool all_have_read(const struct services *services, uint64_t time_ns, unsigned intervals)
{
	for (size_t i = 0; i < services->subscriber_count; i++) {
		const struct subscriber *subscriber = &services->subscribers[i];

		if (subscriber->used &&
		    subscriber->read_ns <= time_ns + intervals * subscriber->interval_ns)
			return false;
	}
	return true;
}

/* Have the tables of all subscribers the growth until after this time? A subscriber that has had an
 * interval for it is late. */
static bool all_have_seen(struct services *services, uint64_t time_ns, uint64_t now_ns)
{
	bool late = now_ns - time_ns > services->interval_ns + services->interval_ns / 4;
	bool all = true;

	for (size_t i = 0; i < services->subscriber_count; i++) {
		struct subscriber *subscriber = &services->subscribers[i];

		if (!subscriber->used || subscriber->seen_ns > time_ns)
			continue;
		if (late) {
			if (subscriber->catch_up)
				subscriber->catch_up(subscriber->of);
			subscriber->seen_ns = now_ns;
		}
		all &= late;
	}
	return all;
}

/* --- subjects that have left their row --- */

static void leave_first(struct services *services)
{
	subjects_leave(&services->subjects, services->departed[0].subject);
	services->departed_count--;
	memmove(services->departed, services->departed + 1,
		services->departed_count * sizeof(*services->departed));
}

/* The first ones go where too many are waited for. */
static void depart(struct services *services, int subject, uint64_t since_ns, unsigned intervals)
{
	size_t most = (size_t)services->row_count + services->process_row_count;
	struct departed *grown;

	if (subject < 0)
		return;
	if (services->departed_count == most)
		leave_first(services);
	grown = reallocarray(services->departed, services->departed_count + 1, sizeof(*grown));
	if (!grown) {
		subjects_leave(&services->subjects, (size_t)subject);
		return;
	}
	services->departed = grown;
	grown[services->departed_count++] = (struct departed){
		.subject = (size_t)subject,
		.since_ns = since_ns,
		.intervals = intervals,
	};
}

static void forget_departed(struct services *services)
{
	size_t kept = 0;

	for (size_t i = 0; i < services->departed_count; i++) {
		struct departed *departed = &services->departed[i];

		if (all_have_read(services, departed->since_ns, departed->intervals))
			subjects_leave(&services->subjects, departed->subject);
		else
			services->departed[kept++] = *departed;
	}
	services->departed_count = kept;
}

/* --- the life of a row --- */

static void forget_name(struct services *services, uint32_t row)
{
	const struct service *s = &services->kernel_rows[row];
	int fd = bpf_map__fd(map_named(services, "service_names"));
	struct service_name name;
	uint32_t owner;

	memcpy(name.text, s->name, sizeof(name.text));
	if (bpf_map_lookup_elem(fd, &name, &owner) == 0 && owner == row)
		bpf_map_delete_elem(fd, &name);
}

static void retire(struct services *services, uint32_t i, uint64_t now_ns)
{
	struct service_state *row = &services->states[i];

	forget_name(services, i);
	*row = (struct service_state){ .state = ROW_RETIRED,
				       .since_ns = now_ns,
				       .subject = row->subject };
}

/* Who waits for a row is matched again. */
static void tell_room(struct services *services)
{
	__atomic_store_n(&services->resolver.room, true, __ATOMIC_RELEASE);
}

static void release(struct services *services, uint32_t i)
{
	struct service *s = &services->kernel_rows[i];

	depart(services, services->states[i].subject, services->states[i].since_ns,
	       FORGOTTEN_INTERVALS);
	services->states[i] = (struct service_state){ .state = ROW_FREE };
	__atomic_store_n(&s->flags, 0, __ATOMIC_RELEASE);
	bpf_map_update_elem(bpf_map__fd(map_named(services, "service_free")), NULL, &i, 0);
	tell_room(services);
}

static void promote(struct services *services, uint32_t i)
{
	struct service_state *row = &services->states[i];
	char name[SERVICE_NAME_LEN + 1] = "";
	int subject;

	memcpy(name, services->kernel_rows[i].name, SERVICE_NAME_LEN);
	subject = subjects_enter(&services->subjects, SUBJECT_COMMAND, name);
	if (subject < 0)
		return;
	row->state = ROW_SHOWN;
	row->subject = subject;
}

static void refresh_row(struct services *services, uint32_t i, uint64_t now_ns)
{
	const struct service *s = &services->kernel_rows[i];
	bool used = __atomic_load_n(&s->flags, __ATOMIC_ACQUIRE) & SERVICE_USED;
	bool alive = __atomic_load_n(&s->processes, __ATOMIC_RELAXED) > 0;
	struct service_state *row = &services->states[i];
	uint64_t interval = services->interval_ns;
	bool old = now_ns - row->since_ns >= interval - interval / 8; /* readings jitter */

	if (row->state == ROW_FREE && used)
		*row = (struct service_state){ .state = ROW_HIDDEN,
					       .since_ns = now_ns,
					       .subject = -1 };
	else if (row->state == ROW_HIDDEN && (row->notable || (alive && old)))
		promote(services, i);
	else if (row->state == ROW_HIDDEN && !alive && old)
		retire(services, i, now_ns);
	else if (row->state == ROW_RETIRED && !alive &&
		 all_have_seen(services, row->since_ns, now_ns))
		release(services, i);
	row->absent_ns = alive ? 0 : row->absent_ns ?: now_ns;
	if (row->state == ROW_SHOWN && row->absent_ns && !row->notable &&
	    now_ns - row->absent_ns > GONE_INTERVALS * interval)
		retire(services, i, now_ns);
	row->notable = false;
}

/* --- process rows --- */

static int enter_process(struct services *services, const struct process_label *label)
{
	const struct config *config = services->config;
	static long ticks_per_s;
	char name[SUBJECT_NAME_MAX + 32];
	size_t configured = label->row - SERVICE_FIRST;
	struct subject *made;
	int subject;

	if (label->row < SERVICE_FIRST || configured >= config->service_count)
		return -1;
	if (!ticks_per_s)
		ticks_per_s = sysconf(_SC_CLK_TCK);
	snprintf(name, sizeof(name), "%s-%u-%llu", name_of(services, label->row), label->pid,
		 (unsigned long long)(label->start_ns / (NS_PER_S / (uint64_t)ticks_per_s)));
	subject = subjects_enter(&services->subjects, SUBJECT_PROCESS, name);
	if (subject < 0)
		return -1;
	made = &services->subjects.subject[subject];
	made->rank_group = label->row;
	made->top_n = config->services[configured].top_n;
	return subject;
}

static void leave_process(struct services *services, uint32_t i)
{
	struct process_row *process = &services->process_rows[i];

	depart(services, process->subject, process->ended_ns, 0);
	*process = (struct process_row){ .subject = -1 };
	__atomic_store_n(&services->kernel_labels[i].state, PROCESS_FREE, __ATOMIC_RELEASE);
	bpf_map_update_elem(bpf_map__fd(map_named(services, "process_free")), NULL, &i, 0);
	tell_room(services);
}

/* An ended process keeps its row until all tables have its last growth. */
static void refresh_process(struct services *services, uint32_t i, uint64_t now_ns)
{
	struct process_label *label = &services->kernel_labels[i];
	uint32_t state = __atomic_load_n(&label->state, __ATOMIC_ACQUIRE);
	struct process_row *process = &services->process_rows[i];

	if (state == PROCESS_FREE)
		return;
	if (process->start_ns == 0) {
		process->start_ns = label->start_ns;
		process->subject = enter_process(services, label);
	}
	if (state == PROCESS_ENDED && process->ended_ns == 0)
		process->ended_ns = now_ns;
	else if (state == PROCESS_ENDED && all_have_seen(services, process->ended_ns, now_ns))
		leave_process(services, i);
}

void services_refresh(struct services *services, uint64_t now_ns)
{
	forget_departed(services);
	services->hidden = 0;
	services->shown = 0;
	for (uint32_t i = 0; i < services->row_count; i++) {
		if (!services->states[i].fixed)
			refresh_row(services, i, now_ns);
		services->hidden += services->states[i].state == ROW_HIDDEN;
		services->shown += services->states[i].state == ROW_SHOWN;
	}
	for (uint32_t i = 1; i < services->process_row_count; i++)
		refresh_process(services, i, now_ns);
}

int services_subject(const struct services *services, uint32_t row)
{
	if (row >= services->row_count)
		return -1;
	if (services->states[row].state != ROW_SHOWN)
		return services->states[SERVICE_OTHER].subject;
	return services->states[row].subject;
}

int services_process_subject(const struct services *services, uint32_t process)
{
	return process < services->process_row_count ? services->process_rows[process].subject : -1;
}

bool services_gone(const struct services *services, uint32_t row)
{
	return services->states[row].state == ROW_RETIRED ||
	       services->states[row].state == ROW_FREE;
}

void services_notable(struct services *services, uint32_t row)
{
	if (row < services->row_count)
		services->states[row].notable = true;
}

void services_done(struct services *services)
{
	if (services->object.bpf) {
		unmap_rows(services, "services", services->kernel_rows);
		unmap_rows(services, "process_labels", services->kernel_labels);
	}
	object_done(&services->object);
	resolver_done(&services->resolver);
	free(services->states);
	free(services->process_rows);
	free(services->subscribers);
	registry_done(&services->registry);
	free(services->departed);
	subjects_done(&services->subjects);
	pthread_mutex_destroy(&services->resolver.lock);
	pthread_mutex_destroy(&services->lock);
	*services = (struct services){ 0 };
}
