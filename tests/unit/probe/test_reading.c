/* SPDX-License-Identifier: MIT */
/*
 * Readings of two probes in two threads: neither delays the other, whatever that one or upkeep waits for. The
 * kernel and collectd are played, and block where the test says so.
 */
#include "tests/unit/fake/services.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/probe.h"
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/walks.h"

#include "plugin/daemon/publication.h"
#include "plugin/probe/open.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define WAIT_S 60 /* longer than any machine needs; only a failure waits that long */
#define READINGS 20

struct pair {
	struct fixture f;
	struct probe slow, quick;
	uint64_t *slow_rows, *quick_rows;
};

static sem_t arrived, go_on;
static const char *stop_at; /* where the slow probe blocks */

static bool wait_for(sem_t *sem)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_S;
	while (sem_timedwait(sem, &end) != 0)
		if (errno != EINTR)
			return false;
	return true;
}

static struct publication publications[2];

static struct reading_output *output_of(const struct probe *probe)
{
	return &publications[!strcmp(probe->name, "slow")].output;
}

static unsigned given_up; /* counted in threads, which must not use CHECK */

static void stop(void)
{
	sem_post(&arrived);
	if (!wait_for(&go_on))
		__atomic_fetch_add(&given_up, 1, __ATOMIC_RELAXED);
}

static void on_dispatch(const char *subject)
{
	if (stop_at && !strcmp(subject, stop_at)) {
		stop_at = NULL;
		stop();
	}
}

/* Replaces the function of the library. */
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file)
{
	(void)helper;
	(void)ret_file;
	if (stop_at && !strcmp(request->path, stop_at)) {
		stop_at = NULL;
		stop();
	}
	return -ENOENT;
}

static uint64_t *open_probe(struct pair *p, struct probe *probe, const char *name)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct error error = { "" };
	struct table *tables;
	uint64_t *rows;

	probe_of(probe, name, INTERVAL_S, NULL);
	tables = probe_tables(probe, &p->f.services, 2);
	if (engine_object_open(&probe->object, &error))
		abort();
	rows = row_table(&tables[0], &member, 1, 8, 1, SUBJECT_PROBE);
	rows[0] = 1;
	rows = row_table(&tables[1], &member, 1, 8, ROWS, SUBJECT_SERVICE);
	row_table_instance(&tables[1], 0, name);
	CHECK_INT(reading_subscribe(probe, &error), 0);
	return rows;
}

static void pair_init(struct pair *p)
{
	fixture_init(&p->f);
	for (size_t i = 0; i < COUNT_OF(publications); i++)
		publication_init(&publications[i]);
	p->slow_rows = open_probe(p, &p->slow, "slow");
	p->quick_rows = open_probe(p, &p->quick, "quick");
	sem_init(&arrived, 0, 0);
	sem_init(&go_on, 0, 0);
	daemon_clear();
}

static void pair_done(struct pair *p)
{
	probe_done(&p->slow);
	probe_done(&p->quick);
	fixture_done(&p->f);
	daemon_clear();
}

static void *read_in_thread(void *of)
{
	struct error error = { "" };

	return (void *)(intptr_t)probe_read(of, output_of(of), &error);
}

static pthread_t start_reading(struct probe *probe)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, read_in_thread, probe) != 0)
		abort();
	return thread;
}

static void end_reading(pthread_t thread)
{
	void *status = NULL;

	pthread_join(thread, &status);
	CHECK_INT((intptr_t)status, 0);
	CHECK_UINT(__atomic_load_n(&given_up, __ATOMIC_RELAXED), 0);
}

/* One interval later. */
static void read_quick(struct pair *p)
{
	struct error error = { "" };

	daemon_now += TIME_T_TO_CDTIME_T(INTERVAL_S);
	p->quick_rows[CONFIGURED]++;
	CHECK_INT(probe_read(&p->quick, output_of(&p->quick), &error), 0);
}

/* While the slow probe is blocked, the quick one is read at its interval, and services start and
 * exit. */
static void check_stop(struct pair *p, const char *at)
{
	pthread_t thread;

	stop_at = at;
	thread = start_reading(&p->slow);
	CHECK_INT(wait_for(&arrived), true);
	for (unsigned i = 1; i <= READINGS; i++) {
		read_quick(p);
		CHECK_REAL(daemon_gauge("web/derive-quick"), i, 0);
	}
	CHECK_REAL(daemon_gauge("web/derive-slow"), DAEMON_NONE, 0);
	sem_post(&go_on);
	end_reading(thread);
	CHECK_REAL(daemon_gauge("web/derive-slow"), 0, 0);
}

static void test_dispatch(void)
{
	struct pair p;

	CASE("dispatch of the slow probe's values blocks");
	pair_init(&p);
	daemon_on_dispatch = on_dispatch;
	check_stop(&p, "slow");
	daemon_on_dispatch = NULL;
	pair_done(&p);
}

static void *resolve_in_thread(void *of)
{
	services_resolve(of, clock_ns());
	return NULL;
}

/* Upkeep waits for it, and readings do not wait for upkeep. */
static void test_file(void)
{
	pthread_t upkeep;
	struct pair p;

	CASE("a pid file times out");
	pair_init(&p);
	set_pid_files(&p.f, STRINGS("/slow"));
	CHECK_INT(pid_files_init(&p.f.services.resolver.pid_files, &p.f.config), 0);
	stop_at = "/slow";
	if (pthread_create(&upkeep, NULL, resolve_in_thread, &p.f.services) != 0)
		abort();
	CHECK_INT(wait_for(&arrived), true);
	end_reading(start_reading(&p.slow));
	CHECK_REAL(daemon_gauge("web/derive-slow"), 0, 0);
	for (unsigned i = 1; i <= READINGS; i++) {
		read_quick(&p);
		CHECK_REAL(daemon_gauge("web/derive-quick"), i, 0);
	}
	sem_post(&go_on);
	pthread_join(upkeep, NULL);
	CHECK_UINT(__atomic_load_n(&given_up, __ATOMIC_RELAXED), 0);
	pair_done(&p);
}

/* The row of an exited service is reused, and its counts are not lost, although a probe that has
 * not read them is blocked in dispatch. */
static void test_catch_up(void)
{
	struct error error = { "" };
	pthread_t thread;
	struct pair p;

	CASE("rows come free");
	pair_init(&p);
	set_interval(&p.f, 1000000);
	probe_set_interval(&p.slow, 0.001);
	probe_set_interval(&p.quick, 0.001);
	use_row(&p.f, 3);
	daemon_on_dispatch = on_dispatch;
	stop_at = "slow";
	thread = start_reading(&p.slow);
	CHECK_INT(wait_for(&arrived), true);
	p.slow_rows[3] += 5;
	for (unsigned i = 0; i < 1000 && !maps_count("service_free"); i++) {
		usleep(2000);
		read_quick(&p);
	}
	CHECK_UINT(maps_count("service_free"), 1);
	CHECK_INT(p.slow.tables[1].caught_up, true);
	sem_post(&go_on);
	end_reading(thread);
	daemon_on_dispatch = NULL;
	CASE("its counts are dispatched later");
	daemon_now += TIME_T_TO_CDTIME_T(INTERVAL_S);
	CHECK_INT(probe_read(&p.slow, output_of(&p.slow), &error), 0);
	CHECK_REAL(daemon_gauge("other/derive-slow"), 5, 0);
	pair_done(&p);
}

static unsigned inside;

/* Returns when both threads have called it. */
static void wait_for_other(void)
{
	if (__atomic_add_fetch(&inside, 1, __ATOMIC_ACQ_REL) != 1)
		sem_post(&arrived);
	else if (!wait_for(&arrived))
		__atomic_fetch_add(&given_up, 1, __ATOMIC_RELAXED);
}

static void test_same_time(void)
{
	struct reading_walk *walks[2];
	pthread_t threads[2];
	struct pair p;

	CASE("both walk at the same time");
	pair_init(&p);
	walks[0] = object_walked_by(&p.slow.object, 1);
	walks[1] = object_walked_by(&p.quick.object, 1);
	maps_on_walk = wait_for_other;
	threads[0] = start_reading(&p.slow);
	threads[1] = start_reading(&p.quick);
	end_reading(threads[0]);
	end_reading(threads[1]);
	CHECK_UINT(inside, 2);
	CHECK_REAL(daemon_gauge("web/derive-slow"), 0, 0);
	CHECK_REAL(daemon_gauge("web/derive-quick"), 0, 0);
	maps_on_walk = NULL;
	object_walks_forget(&p.slow.object, walks[0]);
	object_walks_forget(&p.quick.object, walks[1]);
	pair_done(&p);
}

int main(void)
{
	test_dispatch();
	test_file();
	test_catch_up();
	test_same_time();
	return testing_end();
}
