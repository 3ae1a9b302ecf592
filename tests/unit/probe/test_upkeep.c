/* SPDX-License-Identifier: MIT */
/*
 * What upkeep does when, and what it still does while a file does not answer. The clock is played,
 * and so is what upkeep calls (--wrap): a check of attachments waits as a helper's request does.
 */
#include "tests/unit/fake/services.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/probe.h"

#include "plugin/attach/attachment_list.h"
#include "plugin/probe/pause.h"
#include "plugin/probe/upkeep.h"

#include <errno.h>

#define HALF_S (INTERVAL_S / 2)
#define SLOW_S 60
#define TRIES_MAX 10000

static uint64_t now_ns;
static unsigned resolved, fits_logged, checked, given_up;
static uint64_t resolved_ns, most_apart_ns; /* of two passes over services */
static bool is_incomplete;
static double wait_s; /* of a check of attachments */
static struct upkeep upkeep;
static struct probe probe;
static struct probe_config block;
static double cost_percent_of_cpus;
static unsigned paused;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	ret_now->tv_sec = (time_t)(now_ns / NS_PER_S);
	ret_now->tv_nsec = (long)(now_ns % NS_PER_S);
	return 0;
}

bool __wrap_services_resolve(struct services *services, uint64_t at_ns);
bool __wrap_services_resolve(struct services *services, uint64_t at_ns)
{
	(void)services;
	if (resolved++ && at_ns - resolved_ns > most_apart_ns)
		most_apart_ns = at_ns - resolved_ns;
	resolved_ns = at_ns;
	return !is_incomplete;
}

void __wrap_resolver_log_fits(struct resolver *resolver);
void __wrap_resolver_log_fits(struct resolver *resolver)
{
	(void)resolver;
	fits_logged++;
}

bool __wrap_attachments_any(const struct object *object);
bool __wrap_attachments_any(const struct object *object)
{
	(void)object;
	return true;
}

int __wrap_bpf_enable_stats(enum bpf_stats_type type);
int __wrap_bpf_enable_stats(enum bpf_stats_type type)
{
	(void)type;
	return -EPERM;
}

/* Waits, in slices of a tenth of a second. */
void __wrap_attachments_check(struct object *object, const char *name,
			      const struct file_finder *finder);
void __wrap_attachments_check(struct object *object, const char *name,
			      const struct file_finder *finder)
{
	uint64_t end_ns = now_ns + S(wait_s);

	(void)object;
	(void)name;
	checked++;
	for (; now_ns < end_ns; now_ns += NS_PER_S / 10)
		if (finder->files->meanwhile(finder->files->meanwhile_of)) {
			given_up++;
			return;
		}
}

static bool played_since(struct cost_mark *mark, const struct probe *of, int function,
			 uint64_t at_ns, struct cost *ret_cost)
{
	(void)of;
	(void)function;
	mark->time_ns = at_ns;
	*ret_cost = (struct cost){ .other_ns = cost_percent_of_cpus / 100 * (double)NS_PER_S *
					       (double)sysconf(_SC_NPROCESSORS_ONLN) };
	return true;
}

static void played_sample(struct probe *of)
{
	(void)of;
}

static void played_pause(struct probe *of, int function)
{
	(void)of;
	(void)function;
	/* Not while its attachments are being checked. */
	CHECK_INT(upkeep.overhead.busy == NULL, true);
	paused++;
	wait_s = 0;
}

static void notify(enum health health, const char *name, const char *text)
{
	(void)health;
	(void)name;
	(void)text;
}

static void begin(struct fixture *f)
{
	static struct file_helper files, probe_files;

	fixture_init(f);
	file_helper_init(&files);
	file_helper_init(&probe_files);
	helpers_of(&f->services, &files, &probe_files);
	probe_of(&probe, "one", INTERVAL_S, &block);
	block.max_overhead = 10;
	probe_services(&probe, &f->services);
	probe_object(&probe, f->services.object.bpf);
	now_ns = S(1000);
	resolved = fits_logged = checked = given_up = paused = 0;
	most_apart_ns = 0;
	is_incomplete = false;
	wait_s = cost_percent_of_cpus = 0;
	daemon_clear();
	CHECK_INT(upkeep_open(&upkeep, &f->services, &probe, 1, INTERVAL_S, notify), 0);
	upkeep.overhead.since = played_since;
	upkeep.overhead.sample = played_sample;
	upkeep.overhead.pause = played_pause;
}

static void end(struct fixture *f)
{
	struct services *services = &f->services;

	upkeep_stop(&upkeep);
	CHECK_INT(services->probe_files->meanwhile == NULL, true);
	probe_object(&probe, NULL);
	fixture_done(f);
}

/* As the thread does. */
static void pass(double seconds)
{
	uint64_t end_ns = now_ns + S(seconds);

	for (unsigned i = 0; now_ns < end_ns && i < TRIES_MAX; i++) {
		uint64_t due_ns = upkeep_step(&upkeep, now_ns);

		now_ns = due_ns > now_ns ? due_ns : now_ns + 1;
	}
}

static void test_idle(void)
{
	struct fixture f;

	CASE("nothing waits");
	begin(&f);
	pass(100);
	CHECK_UINT(resolved, 100 / HALF_S);
	CHECK_UINT(fits_logged, 100 / INTERVAL_S);
	CHECK_UINT(most_apart_ns, S(HALF_S));
	CHECK_INT(checked >= 99, true);
	end(&f);
}

/* What a file has kept waiting goes on soon. */
static void test_incomplete(void)
{
	struct fixture f;

	CASE("a file has cut a pass short");
	begin(&f);
	is_incomplete = true;
	pass(1);
	CHECK_UINT(resolved, 20);
	is_incomplete = false;
	pass(HALF_S);
	CHECK_UINT(resolved, 21);
	end(&f);
}

static void test_slow(void)
{
	struct fixture f;

	CASE("attachments wait");
	begin(&f);
	wait_s = SLOW_S;
	pass(SLOW_S);
	CHECK_UINT(checked, 1);
	CHECK_UINT(given_up, 0);
	CHECK_UINT(resolved, SLOW_S / HALF_S);
	CHECK_INT(most_apart_ns <= S(HALF_S) + NS_PER_S / 10, true);
	end(&f);
}

static void test_overhead(void)
{
	struct fixture f;

	CASE("a probe costs too much while its attachments wait");
	begin(&f);
	wait_s = SLOW_S;
	cost_percent_of_cpus = 50;
	pass(3);
	CHECK_UINT(given_up, 1);
	CHECK_UINT(paused, 1);
	CHECK_INT(now_ns < S(1000 + 5), true);
	end(&f);
}

static void test_stop(void)
{
	struct fixture f;
	struct file_helper *slow;

	CASE("stopped while attachments wait");
	begin(&f);
	slow = f.services.probe_files;
	CHECK_INT(slow->meanwhile(slow->meanwhile_of), false);
	__atomic_store_n(&upkeep.stopped, true, __ATOMIC_RELAXED);
	CHECK_INT(slow->meanwhile(slow->meanwhile_of), true);
	CHECK_INT(f.services.resolver.files->meanwhile(&upkeep), true);
	wait_s = SLOW_S;
	upkeep_step(&upkeep, now_ns);
	CHECK_UINT(checked, 0);
	end(&f);
}

int main(void)
{
	message_to(daemon_record);
	test_idle();
	test_incomplete();
	test_slow();
	test_overhead();
	test_stop();
	return testing_end();
}
