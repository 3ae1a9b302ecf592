/* SPDX-License-Identifier: MIT */
/*
 * The life of services: which rows of the kernel have series of their own, and when a row is free for another
 * name.
 *
 * The kernel gives a row to a unit, a user, a container or a command name at once. The row is hidden: it counts
 * under "other". It gets series when the service has lived for an interval or was active, unless there are too
 * many new names. A name that has series already, such as that of a container that was created again, gets
 * them back at once. A part of the rows and of the new names is reserved for units and containers; the names
 * of users and commands can be made by any user.
 *
 * The row of a service without processes is retired in three steps: its name is deleted, so that no process
 * enters the row; all tables read its growth once more; the row returns to the kernel's queue. The subject of a
 * service with series stays until receivers have forgotten them: if the name comes back before, its counters
 * continue. A row that belongs to a Service block by its name joins the block's subject, and is retired sooner.
 */
#include "lifecycle.h"

#include "bpf/lib/services/service.h"
#include "cgroup/match.h"
#include "row_name.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXITED_INTERVALS 10   /* without processes, after which a service is no longer dispatched */
#define UNDECIDED_INTERVALS 3 /* in which a name is found, if its files can be read */
#define FORGOTTEN_INTERVALS 3 /* after which collectd (Timeout) and RRD have dropped it */

/* --- opening --- */

/* For which names rows are given: also for those that the engine may find to belong to a Service block. */
static unsigned row_sources(const struct config *config)
{
	return config->services_from | groups_need_names(config);
}

uint32_t lifecycle_reserved(const struct config *config, uint32_t count)
{
	unsigned from = row_sources(config);

	if (!(from & ~(unsigned)SERVICES_FROM_COMMANDS))
		return 0;
	return from == SERVICES_FROM_CONTAINERS && !groups_have_user_containers(config) ? count
											: count / 2;
}

static void allowances_init(struct lifecycle *lifecycle, const struct config *config)
{
	uint32_t most = config_new_services(config), groups = lifecycle_reserved(config, most);

	allowance_init(&lifecycle->new_series_budget, most - groups);
	allowance_init(&lifecycle->group_new_series_budget, groups);
}

int lifecycle_prepare(struct lifecycle *lifecycle, const struct config *config,
		      const struct object *object, double interval_s, struct error *error)
{
	static const char *const by_row[] = { "services", "service_cpus", "service_requests",
					      "service_samples" };
	uint32_t free_rows = row_sources(config) ? config->max_services : 0;
	uint32_t reserve = lifecycle_reserved(config, free_rows);
	int status = 0;

	lifecycle->config = config;
	lifecycle->object = object;
	lifecycle->interval_ns = (uint64_t)(interval_s * NS_PER_S);
	lifecycle->named_sources = groups_need_names(config);
	allowances_init(lifecycle, config);
	lifecycle->row_count = SERVICE_FIRST + (uint32_t)config->service_count + free_rows;
	lifecycle->reserve_begin = lifecycle->row_count - reserve;
	lifecycle->states = calloc(lifecycle->row_count, sizeof(*lifecycle->states));
	lifecycle->active = calloc(lifecycle->row_count, sizeof(*lifecycle->active));
	lifecycle->names = calloc(lifecycle->row_count, sizeof(*lifecycle->names));
	if (!lifecycle->states || !lifecycle->active || !lifecycle->names)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 0; i < sizeof(by_row) / sizeof(*by_row) && status == 0; i++)
		status = bpf_map__set_max_entries(object_map(lifecycle->object, by_row[i]),
						  lifecycle->row_count);
	status = status
			 ?: bpf_map__set_max_entries(object_map(lifecycle->object, "service_free"),
						     free_rows - reserve + 1);
	status = status
			 ?: bpf_map__set_max_entries(
				    object_map(lifecycle->object, "service_reserve"), reserve + 1);
	return status ? error_set(error, status, "cannot size the maps: %s", strerror(-status)) : 0;
}

static int add_fixed_row(struct lifecycle *lifecycle, uint32_t row, const char *name)
{
	int subject = subjects_enter(&lifecycle->subjects, SUBJECT_SERVICE, name);
	struct error clash;

	if (subject < 0)
		return subject;
	/* Each clash of two blocks is logged. */
	if (subjects_claim_clash(&lifecycle->subjects, 0, &clash))
		message(LOG_WARNING, "%s", clash.text);
	lifecycle->states[row] =
		(struct service_state){ .state = ROW_SHOWN, .subject = subject, .fixed = true };
	return 0;
}

static int add_fixed_rows(struct lifecycle *lifecycle)
{
	const struct config *config = lifecycle->config;
	int status = subjects_reserve(&lifecycle->subjects, SUBJECT_NONE, "self", 0);

	status = status ?: add_fixed_row(lifecycle, SERVICE_OTHER, "other");
	status = status ?: add_fixed_row(lifecycle, SERVICE_KERNEL, "kernel");
	for (size_t i = 0; i < config->service_count && status == 0; i++)
		status = add_fixed_row(lifecycle, SERVICE_FIRST + (uint32_t)i,
				       config->services[i].name);
	return status;
}

static int queue_free_row(const struct lifecycle *lifecycle, uint32_t row)
{
	const char *queue = row < lifecycle->reserve_begin ? "service_free" : "service_reserve";
	int fd = bpf_map__fd(object_map(lifecycle->object, queue));

	return bpf_map_update_elem(fd, NULL, &row, 0) == 0 ? 0 : -errno;
}

int lifecycle_start(struct lifecycle *lifecycle, struct error *error)
{
	uint32_t row = SERVICE_FIRST + (uint32_t)lifecycle->config->service_count;
	int status =
		mapping_open(&lifecycle->rows_mapping, object_map(lifecycle->object, "services"),
			     PROT_READ | PROT_WRITE);

	if (status)
		return error_set(error, status, "cannot map the rows: %s", strerror(-status));
	lifecycle->kernel_rows = lifecycle->rows_mapping.start;
	status = add_fixed_rows(lifecycle);
	for (; row < lifecycle->row_count && status == 0; row++)
		status = queue_free_row(lifecycle, row);
	return status ? error_set(error, status, "cannot fill the maps: %s", strerror(-status)) : 0;
}

/* Raises what is left to `count`. */
static void raise_allowance(struct allowance *allowance, double count)
{
	if (allowance->left < count)
		allowance->left = count;
}

/* Containers of users leave half of the new names to other users and to commands. */
static double names_left_to_others(const struct lifecycle *lifecycle)
{
	return lifecycle->new_series_budget.most / 2;
}

void lifecycle_accept(struct lifecycle *lifecycle)
{
	unsigned user_controlled = 0, groups = 0;
	double others = 0;

	for (uint32_t i = 0; i < lifecycle->row_count; i++) {
		if (lifecycle->states[i].state != ROW_HIDDEN)
			continue;
		lifecycle->states[i].since_ns = 0;
		if (service_is_user_controlled(lifecycle->kernel_rows[i].key.kind))
			user_controlled++;
		else
			groups++;
		if (lifecycle->kernel_rows[i].key.kind == GROUP_USER_CONTAINER)
			others = names_left_to_others(lifecycle);
	}
	raise_allowance(&lifecycle->new_series_budget, user_controlled + others);
	raise_allowance(&lifecycle->group_new_series_budget, groups);
}

/* --- subjects that have lost a row --- */

static void release_oldest_departed(struct lifecycle *lifecycle)
{
	subjects_release(&lifecycle->subjects, lifecycle->departed[0].subject);
	lifecycle->departed_count--;
	memmove(lifecycle->departed, lifecycle->departed + 1,
		lifecycle->departed_count * sizeof(*lifecycle->departed));
}

/* If there are too many, the oldest one is dropped. */
void lifecycle_depart(struct lifecycle *lifecycle, int subject, uint64_t since_ns,
		      unsigned intervals)
{
	size_t most = (size_t)lifecycle->row_count + lifecycle->process_row_count;
	struct departed *grown;

	if (subject < 0)
		return;
	if (lifecycle->departed_count == most)
		release_oldest_departed(lifecycle);
	grown = reallocarray(lifecycle->departed, lifecycle->departed_count + 1, sizeof(*grown));
	if (!grown) {
		subjects_release(&lifecycle->subjects, (size_t)subject);
		return;
	}
	lifecycle->departed = grown;
	grown[lifecycle->departed_count++] = (struct departed){
		.subject = (size_t)subject,
		.since_ns = since_ns,
		.intervals = intervals,
	};
}

static void forget_departed(struct lifecycle *lifecycle)
{
	size_t remaining = 0;

	for (size_t i = 0; i < lifecycle->departed_count; i++) {
		struct departed *departed = &lifecycle->departed[i];

		if (subscribers_have_read(&lifecycle->subscribers, departed->since_ns,
					  departed->intervals))
			subjects_release(&lifecycle->subjects, departed->subject);
		else
			lifecycle->departed[remaining++] = *departed;
	}
	lifecycle->departed_count = remaining;
}

/* --- the life of a row --- */

void lifecycle_give_back(struct lifecycle *lifecycle, const char *queue, uint32_t i)
{
	bpf_map_update_elem(bpf_map__fd(object_map(lifecycle->object, queue)), NULL, &i, 0);
}

static void delete_row_name(struct lifecycle *lifecycle, uint32_t row)
{
	const struct service *s = &lifecycle->kernel_rows[row];
	int fd = bpf_map__fd(object_map(lifecycle->object, "service_names"));
	struct group_key key = s->key;
	struct service_name owner;

	if (bpf_map_lookup_elem(fd, &key, &owner) == 0 && owner.row == row)
		bpf_map_delete_elem(fd, &key);
}

static void retire_row(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	struct service_state *row = &lifecycle->states[i];

	delete_row_name(lifecycle, i);
	*row = (struct service_state){
		.state = ROW_RETIRED,
		.since_ns = now_ns,
		.subject = row->subject,
	};
}

static void free_row(struct lifecycle *lifecycle, uint32_t i)
{
	struct service_state *row = &lifecycle->states[i];

	lifecycle_depart(lifecycle, row->subject, row->since_ns, FORGOTTEN_INTERVALS);
	*row = (struct service_state){ .state = ROW_FREE };
	__atomic_store_n(&lifecycle->kernel_rows[i].flags, 0, __ATOMIC_RELEASE);
	queue_free_row(lifecycle, i);
}

static bool has_new_name(const struct lifecycle *lifecycle, const struct group_key *key)
{
	double others = key->kind == GROUP_USER_CONTAINER ? names_left_to_others(lifecycle) : 0;

	return lifecycle->new_series_budget.left >= 1 + others ||
	       (!service_is_user_controlled(key->kind) &&
		lifecycle->group_new_series_budget.left >= 1);
}

/* Spends one new name; false: none is left. */
static bool spend_new_name(struct lifecycle *lifecycle, const struct group_key *key)
{
	if (!has_new_name(lifecycle, key))
		return false;
	return (!service_is_user_controlled(key->kind) &&
		allowance_use(&lifecycle->group_new_series_budget)) ||
	       allowance_use(&lifecycle->new_series_budget);
}

static void show_row(struct lifecycle *lifecycle, uint32_t i)
{
	const struct group_key *key = &lifecycle->kernel_rows[i].key;
	struct service_state *row = &lifecycle->states[i];
	int subject;

	if (!row_name_is_known(lifecycle, i) ||
	    (row->refused && !has_new_name(lifecycle, key) && row_name_find(lifecycle, i) < 0))
		return;
	subject = row_name_enter(lifecycle, i);
	if (subject < 0)
		return;
	/* No other row has the name, or had it a moment ago. */
	if (lifecycle->subjects.subject[subject].rows == 1 && !spend_new_name(lifecycle, key)) {
		subjects_release(&lifecycle->subjects, (size_t)subject);
		lifecycle->names_refused += !row->refused;
		row->refused = true;
		return;
	}
	row->state = ROW_SHOWN;
	row->subject = subject;
	if (lifecycle->subjects.subject[subject].rows == 1)
		row_names_make_way(lifecycle, (size_t)subject);
}

/* Its counts belong to the service of the block. */
static void join_configured(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	int subject = lifecycle->states[row_name_service(lifecycle, i)].subject;

	subjects_add_row(&lifecycle->subjects, (size_t)subject);
	lifecycle->states[i].state = ROW_SHOWN;
	lifecycle->states[i].since_ns = now_ns;
	lifecycle->states[i].subject = subject;
}

/* Is it a unit or a container whose series still exist, so that it continues them? */
static bool has_old_series(const struct lifecycle *lifecycle, uint32_t i)
{
	uint32_t kind = lifecycle->kernel_rows[i].key.kind;

	return (kind == GROUP_USER_CONTAINER || !service_is_user_controlled(kind)) &&
	       row_name_is_known(lifecycle, i) && row_name_find(lifecycle, i) >= 0;
}

/* Does the engine still have to find out whether it belongs to a Service block? */
static bool is_row_undecided(const struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	const struct service_state *row = &lifecycle->states[i];

	return row->state == ROW_HIDDEN &&
	       lifecycle->named_sources & service_source_of(lifecycle->kernel_rows[i].key.kind) &&
	       !row_name_is_settled(lifecycle, i) &&
	       now_ns - row->since_ns < UNDECIDED_INTERVALS * lifecycle->interval_ns;
}

/* Has it been without processes for long enough? A process that comes back to the service of a block gets
 * another row, so there it is enough that all tables have the growth of this one. */
static bool is_row_expired(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	const struct service_state *row = &lifecycle->states[i];
	uint64_t last_ns = row->absent_ns > row->since_ns ? row->absent_ns : row->since_ns;

	if (row->state != ROW_SHOWN || !row->absent_ns)
		return false;
	if (!row_name_service(lifecycle, i))
		return now_ns - row->absent_ns > EXITED_INTERVALS * lifecycle->interval_ns;
	return subscribers_have_seen(&lifecycle->subscribers, last_ns, now_ns,
				     lifecycle->interval_ns);
}

static void refresh_service_row(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	const struct service *s = &lifecycle->kernel_rows[i];
	bool used = __atomic_load_n(&s->flags, __ATOMIC_ACQUIRE) & SERVICE_USED;
	bool alive = __atomic_load_n(&s->processes, __ATOMIC_RELAXED) > 0;
	bool active = __atomic_exchange_n(&lifecycle->active[i], false, __ATOMIC_RELAXED);
	struct service_state *row = &lifecycle->states[i];
	uint64_t interval = lifecycle->interval_ns;
	bool begins = row->state == ROW_FREE && used;
	bool old = now_ns - row->since_ns >= interval - interval / 8; /* readings jitter */

	if (begins) {
		*row = (struct service_state){
			.state = ROW_HIDDEN,
			.since_ns = now_ns,
			.subject = -1,
			.user_controlled = service_is_user_controlled(s->key.kind),
		};
		old = active = false;
	}
	row->undecided = is_row_undecided(lifecycle, i, now_ns);
	if (row->undecided)
		;
	else if (row->state == ROW_HIDDEN && row_name_service(lifecycle, i))
		join_configured(lifecycle, i, now_ns);
	else if (row->state == ROW_HIDDEN &&
		 (active || (alive && old) || has_old_series(lifecycle, i)))
		show_row(lifecycle, i);
	else if (row->state == ROW_HIDDEN && !alive && old)
		retire_row(lifecycle, i, now_ns);
	else if (row->state == ROW_RETIRED && !alive &&
		 subscribers_have_seen(&lifecycle->subscribers, row->since_ns, now_ns, interval))
		free_row(lifecycle, i);
	row->absent_ns = alive ? 0 : row->absent_ns ?: now_ns;
	if (!active && is_row_expired(lifecycle, i, now_ns))
		retire_row(lifecycle, i, now_ns);
}

static void find_first_rows(struct lifecycle *lifecycle)
{
	struct subject *subject = lifecycle->subjects.subject;

	lifecycle->shown = 0;
	for (uint32_t row = lifecycle->row_count; row-- > 0;)
		if (lifecycle->states[row].state == ROW_SHOWN)
			subject[lifecycle->states[row].subject].first_row = row;
	for (uint32_t row = 0; row < lifecycle->row_count; row++)
		lifecycle->shown += lifecycle->states[row].state == ROW_SHOWN &&
				    subject[lifecycle->states[row].subject].first_row == row;
}

/* As if the last process of the old name had ended. All leave before any of them enters another subject: two may
 * have swapped their names. */
static void depart_old_names(struct lifecycle *lifecycle, uint64_t now_ns)
{
	for (uint32_t i = 0; i < lifecycle->row_count && lifecycle->any_renamed; i++) {
		struct service_state *row = &lifecycle->states[i];

		if (row_name_is_old(lifecycle, i)) {
			lifecycle_depart(lifecycle, row->subject, now_ns, FORGOTTEN_INTERVALS);
			row->state = ROW_HIDDEN;
			row->subject = -1;
		}
		row->refused &= !lifecycle->names[i].is_renamed;
		lifecycle->names[i].is_renamed = false;
	}
	lifecycle->any_renamed = false;
}

void lifecycle_refresh(struct lifecycle *lifecycle, uint64_t now_ns)
{
	uint32_t free_rows = 0, reserve = 0;

	forget_departed(lifecycle);
	depart_old_names(lifecycle, now_ns);
	allowance_fill(&lifecycle->new_series_budget, now_ns);
	allowance_fill(&lifecycle->group_new_series_budget, now_ns);
	lifecycle->hidden = 0;
	for (uint32_t i = 0; i < lifecycle->row_count; i++) {
		if (!lifecycle->states[i].fixed)
			refresh_service_row(lifecycle, i, now_ns);
		lifecycle->hidden += lifecycle->states[i].state == ROW_HIDDEN;
		free_rows += lifecycle->states[i].state == ROW_FREE && i < lifecycle->reserve_begin;
		reserve += lifecycle->states[i].state == ROW_FREE && i >= lifecycle->reserve_begin;
	}
	find_first_rows(lifecycle);
	__atomic_store_n(&lifecycle->free_rows.services, free_rows, __ATOMIC_RELAXED);
	__atomic_store_n(&lifecycle->free_rows.reserve, reserve, __ATOMIC_RELAXED);
}

/* --- snapshots --- */

/* With room for the subjects that rows may get until it is filled. */
struct snapshot *lifecycle_snapshot(const struct lifecycle *lifecycle)
{
	size_t rows = (size_t)lifecycle->row_count + lifecycle->process_row_count;

	return snapshot_new(lifecycle->row_count, lifecycle->process_row_count,
			    lifecycle->subjects.count + rows);
}

void lifecycle_fill(const struct lifecycle *lifecycle, struct snapshot *snapshot, uint64_t now_ns)
{
	const struct subjects *subjects = &lifecycle->subjects;

	snapshot->made_ns = now_ns;
	snapshot->hidden = lifecycle->hidden;
	snapshot->shown = lifecycle->shown;
	snapshot->unnamed = row_names_count_ids(lifecycle);
	snapshot->names_refused = lifecycle->names_refused;
	snapshot->early_rows =
		lifecycle->named_sources ? lifecycle->row_count - lifecycle->reserve_begin : 0;
	snapshot->active = lifecycle->active;
	memcpy(snapshot->states, lifecycle->states,
	       lifecycle->row_count * sizeof(*snapshot->states));
	if (lifecycle->process_row_count)
		memcpy(snapshot->process_rows, lifecycle->process_rows,
		       lifecycle->process_row_count * sizeof(*snapshot->process_rows));
	if (subjects->count)
		memcpy(snapshot->subjects.subject, subjects->subject,
		       subjects->count * sizeof(*subjects->subject));
	snapshot->subjects.count = subjects->count;
	snapshot->subjects.generation = subjects->generation;
}

const char *lifecycle_name(const struct lifecycle *lifecycle, uint32_t row)
{
	return lifecycle->subjects.subject[lifecycle->states[row].subject].name;
}

void lifecycle_done(struct lifecycle *lifecycle)
{
	mapping_done(&lifecycle->rows_mapping);
	mapping_done(&lifecycle->labels_mapping);
	free(lifecycle->states);
	free(lifecycle->active);
	free(lifecycle->names);
	free(lifecycle->process_rows);
	free(lifecycle->departed);
	subscribers_done(&lifecycle->subscribers);
	subjects_done(&lifecycle->subjects);
	*lifecycle = (struct lifecycle){ 0 };
}
