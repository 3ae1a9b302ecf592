/* SPDX-License-Identifier: MIT */
/*
 * A reading of a probe: a snapshot of services, a walk, its tables, and then, with no lock held, the
 * values are dispatched. It opens no file but those of its own text tables, and waits for nobody:
 * what may take long is done by upkeep.c. A slow receiver delays nothing but the next reading of this
 * probe.
 */
#include "reading.h"

#include "table/keys.h"
#include "util/clock.h"
#include "util/lock.h"

#include <math.h>

#define LOG_AGAIN_NS (3600 * NS_PER_S)

static int run_iterators(struct probe *probe, struct error *error)
{
	uint64_t cpu_ns = clock_cpu_ns();
	int status = object_walk(&probe->object, 0, NULL, NULL, error);

	if (probe->object.walk_count)
		__atomic_store_n(&probe->walk_ns, clock_cpu_ns() - cpu_ns, __ATOMIC_RELAXED);
	return status;
}

int reading_walk(struct probe *probe, double interval_s, struct error *error)
{
	int status = run_iterators(probe, error);

	status = status
			 ?: walk_acquire(&probe->services->walk, &probe->object, interval_s,
					 probe->walked_ns, error);
	/* The next reading needs a later walk: what iterators count grows only by a walk. */
	if (status == 0)
		probe->walked_ns = walk_as_of(&probe->services->walk, &probe->object, UINT64_MAX);
	return status;
}

void reading_end_walk(struct probe *probe)
{
	object_set(&probe->object, "readings", ++probe->readings);
	walk_release(&probe->services->walk, &probe->object);
}

static void catch_up_tables(struct probe *probe, const struct snapshot *snapshot, int status)
{
	struct error ignored;

	for (size_t i = 0; i < probe->table_count; i++) {
		struct table *table = &probe->tables[i];

		if (!table_follows(table))
			continue;
		if (status == 0)
			status = table_catch_up(table, snapshot, clock_ns(), &ignored);
		if (status)
			table_miss(table);
	}
}

static void walk_and_catch_up(struct probe *probe, const struct snapshot *snapshot)
{
	struct error ignored;
	int status = reading_walk(probe, 0, &ignored);

	catch_up_tables(probe, snapshot, status);
	if (status == 0)
		reading_end_walk(probe);
}

static bool is_probe_paused(const struct probe *probe)
{
	return __atomic_load_n(&probe->paused, __ATOMIC_ACQUIRE);
}

/* Reads the rows of services that are reassigned before the probe's own reading. false: a reading
 * is in progress. */
static bool catch_up_probe(void *of)
{
	struct probe *probe = of;
	const struct snapshot *snapshot;

	if (pthread_mutex_trylock(&probe->reading) != 0)
		return false;
	snapshot = services_begin(probe->services, probe->subscriber, INFINITY);
	if (is_probe_paused(probe))
		catch_up_tables(probe, snapshot, 0);
	else
		walk_and_catch_up(probe, snapshot);
	services_read(probe->services, probe->subscriber, snapshot, 0);
	pthread_mutex_unlock(&probe->reading);
	return true;
}

/* Services keep a row that is given back until each subscriber has read it, so only probes that
 * read rows of services subscribe. */
int reading_subscribe(struct probe *probe, struct error *error)
{
	struct services *services = probe->services;
	bool reads_rows = false;

	for (size_t i = 0; i < probe->table_count; i++)
		reads_rows |= table_follows(&probe->tables[i]);
	if (!reads_rows)
		return 0;
	lock_acquire(&services->lock);
	probe->subscriber = subscribers_add(&services->lifecycle.subscribers, probe->interval_s,
					    catch_up_probe, probe);
	lock_release(&services->lock);
	return probe->subscriber < 0 ? error_set(error, probe->subscriber, "no memory") : 0;
}

void reading_unsubscribe(struct probe *probe)
{
	if (probe->subscriber < 0)
		return;
	lock_acquire(&probe->services->lock);
	subscribers_remove(&probe->services->lifecycle.subscribers, probe->subscriber);
	lock_release(&probe->services->lock);
	probe->subscriber = -1;
}

/* The order matters: a program that sees the new interval_began_ns with the old previous_began_ns
 * does not cut off a gap that belongs to the interval. */
static void start_interval(struct probe *probe)
{
	uint64_t now_ns = clock_monotonic_ns();

	object_set(&probe->object, "interval_began_ns", now_ns);
	object_set(&probe->object, "previous_began_ns", probe->began_ns);
	probe->began_ns = now_ns;
}

static int read_tables(struct probe *probe, struct reading_output *output,
		       const struct snapshot *snapshot, uint64_t now_ns, struct error *error)
{
	/* It may be paused and resumed again before this ends: that concerns the next reading. */
	bool resumed = __atomic_exchange_n(&probe->resumed, false, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < probe->table_count; i++) {
		int status = table_read(&probe->tables[i], snapshot, now_ns, error);

		if (status)
			return status;
		/* What was counted before a pause belongs to no interval. */
		if (!resumed)
			output->add_table(output, &probe->tables[i], snapshot, probe->name,
					  probe->services->config);
	}
	return 0;
}

void reading_log_troubles(struct probe *probe)
{
	for (size_t i = 0; i < probe->table_count; i++) {
		struct error trouble;

		if (table_trouble(&probe->tables[i], &trouble))
			message(LOG_WARNING, "probe %s: %s", probe->name, trouble.text);
		if (keys_alike(&probe->tables[i], &trouble))
			message(LOG_NOTICE, "probe %s: %s", probe->name, trouble.text);
	}
}

static void fetch_tables(struct probe *probe, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < probe->table_count; i++)
		table_fetch(&probe->tables[i], snapshot, clock_ns());
	reading_log_troubles(probe);
}

/* Logs it once. */
static void log_refused_events(struct probe *probe)
{
	if (!probe->refused || probe->refused_logged ||
	    !__atomic_load_n(probe->refused, __ATOMIC_RELAXED))
		return;
	probe->refused_logged = true;
	message(LOG_NOTICE,
		"probe %s: some of its events are not counted, as its maps have no room for them; "
		"total_events-refused_%s says how many",
		probe->name, probe->name);
}

/* Logs it once an hour. */
static void log_unassigned(struct probe *probe, uint64_t now_ns)
{
	uint32_t unassigned = probe_services_unassigned(probe);

	if (!unassigned ||
	    (probe->unassigned_logged_ns && now_ns - probe->unassigned_logged_ns < LOG_AGAIN_NS))
		return;
	probe->unassigned_logged_ns = now_ns;
	message(LOG_NOTICE,
		"probe %s: all its rows are in use: %u services are counted under \"other\" "
		"until one is free or counts next to nothing; raise Rows, or name the services "
		"that matter in Service blocks",
		probe->name, unassigned);
}

/* The rows are as they were at *ret_as_of, or later. */
static int walk_and_read(struct probe *probe, struct reading_output *output,
			 const struct snapshot *snapshot, uint64_t start_ns, uint64_t *ret_as_of,
			 struct error *error)
{
	uint64_t read_ns;
	int status;

	fetch_tables(probe,
		     snapshot); /* before the walk, which others wait for: files may take long */
	status = reading_walk(probe, probe->interval_s, error);
	if (status)
		return status;
	read_ns = probe->read_ns ? *probe->read_ns : start_ns;
	if (probe->read_ns)
		output->set_age(output, clock_ns() - read_ns);
	start_interval(probe);
	status = read_tables(probe, output, snapshot, read_ns, error);
	log_unassigned(probe, start_ns);
	log_refused_events(probe);
	if (status == 0)
		*ret_as_of = walk_as_of(&probe->services->walk, &probe->object, start_ns);
	reading_end_walk(probe);
	return status;
}

/* Copies the figures of keys for other threads: the tables are the reading's own. */
static void note_keys(struct probe *probe)
{
	struct key_figures figures = { .other_percent = NAN };

	for (size_t i = 0; i < probe->table_count; i++) {
		const struct keys *keys = &probe->tables[i].keys;

		if (probe->tables[i].schema.subject.kind != SUBJECT_KEY)
			continue;
		figures.any = true;
		figures.shown += keys->shown;
		figures.other += keys->other;
		figures.other_percent = fmax(figures.other_percent, keys->other_percent);
	}
	lock_acquire(&probe->services->lock);
	probe->keys = figures;
	lock_release(&probe->services->lock);
}

/* Returns when the reading started; 0: it was skipped. Of a paused probe, only rows that may be
 * reassigned are read. */
static uint64_t read_probe(struct probe *probe, struct reading_output *output, int *ret_status,
			   struct error *error)
{
	struct services *services = probe->services;
	const struct snapshot *snapshot;
	uint64_t start_ns = 0, as_of = 0;

	pthread_mutex_lock(&probe->reading);
	snapshot = services_begin(services, probe->subscriber, probe->interval_s);
	if (is_probe_paused(probe)) {
		as_of = clock_ns();
		catch_up_tables(probe, snapshot, 0);
	} else if (output->start(output, probe->interval_s)) {
		start_ns = clock_ns();
		*ret_status = walk_and_read(probe, output, snapshot, start_ns, &as_of, error);
		note_keys(probe);
	}
	services_read(services, probe->subscriber, snapshot, as_of);
	pthread_mutex_unlock(&probe->reading);
	return start_ns;
}

/* Dispatches what was read. After a failure the next reading may start at once. */
static int hand_on(struct probe *probe, struct reading_output *output, int status,
		   struct error *error)
{
	size_t series = 0;
	int dispatched = output->finish(output, &series);

	if (status == 0 && dispatched)
		status = error_set(error, dispatched, "no memory for its values");
	if (status) {
		output->reset(output);
		return status;
	}
	__atomic_store_n(&probe->series, series, __ATOMIC_RELAXED);
	__atomic_fetch_add(&probe->dispatched, 1, __ATOMIC_RELEASE);
	return 0;
}

int probe_read(struct probe *probe, struct reading_output *output, struct error *error)
{
	struct services *services = probe->services;
	int status = 0;
	uint64_t cpu_ns = clock_cpu_ns(), start_ns;

	start_ns = read_probe(probe, output, &status, error);
	if (start_ns) {
		status = hand_on(probe, output, status, error);
		__atomic_store_n(&probe->reading_ns, clock_cpu_ns() - cpu_ns, __ATOMIC_RELAXED);
		lock_acquire(&services->lock);
		probe->read_s = (double)(clock_ns() - start_ns) / (double)NS_PER_S;
		probe->failing = status != 0;
		lock_release(&services->lock);
	}
	services_catch_up(services, clock_ns());
	return status;
}
