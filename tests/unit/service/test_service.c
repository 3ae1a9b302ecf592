/* SPDX-License-Identifier: MIT */
/*
 * Owners of rows, as simultaneous readings see them: one refresh serves all of them, the snapshot
 * of a reading does not change, and no row is reused while a reading uses it.
 */
#include "tests/unit/fake/services.h"

#include "tests/unit/fake/daemon.h"

#include <pthread.h>

#define LONG_S 1e6
#define THREADS 4
#define READINGS 2000

/* A refresh serves all readings whose interval is at least twice its age. */
static void test_once(void)
{
	const struct snapshot *first, *second;
	uint64_t made_ns;
	struct fixture f;

	CASE("one refresh for two readings");
	fixture_init(&f);
	services_refresh(&f.services, clock_ns());
	made_ns = f.services.snapshot->made_ns;
	first = services_begin(&f.services, -1, LONG_S);
	second = services_begin(&f.services, -1, LONG_S);
	CHECK_INT(first == second, true);
	CHECK_UINT(first->made_ns, made_ns);
	CHECK_UINT(first->users, 3);
	services_read(&f.services, -1, second, clock_ns());
	CASE("the next interval");
	usleep(2000);
	second = services_begin(&f.services, -1, 0.002);
	CHECK_INT(second->made_ns > made_ns, true);
	CHECK_INT(first == second, false);
	CHECK_UINT(first->users, 1);
	services_read(&f.services, -1, first, clock_ns());
	services_read(&f.services, -1, second, 0);
	CHECK_UINT(f.services.snapshot->users, 1);
	fixture_done(&f);
}

/* A reading ends with the snapshot that it started with. */
static void test_constant(void)
{
	const struct snapshot *before, *after;
	struct fixture f;

	CASE("constant");
	fixture_init(&f);
	before = services_acquire(&f.services);
	claim_row(&f, 3, "bash", 1);
	refresh(&f, 100);
	refresh(&f, 110);
	after = services_acquire(&f.services);
	CHECK_INT(before->states[3].state, ROW_FREE);
	CHECK_UINT(before->shown, 3);
	CHECK_INT(after->states[3].state, ROW_SHOWN);
	CHECK_UINT(after->shown, 4);
	CHECK_TEXT(after->subjects.subject[snapshot_subject(after, 3)].name, "bash");
	CASE("what was active in it counts");
	snapshot_set_active(before, 3);
	CHECK_INT(f.services.lifecycle.active[3], true);
	services_release(&f.services, before);
	services_release(&f.services, after);
	CASE("time does not go back");
	refresh(&f, 90);
	CHECK_UINT(f.services.snapshot->made_ns, S(110));
	fixture_done(&f);
}

/* A process has ended while a reading still uses its row. */
static void test_process_in_use(void)
{
	const struct snapshot *snapshot;
	int fast, slow;
	struct fixture f;

	CASE("in use");
	fixture_init(&f);
	fast = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	slow = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	label_process(&f, 1, 12, 77, CONFIGURED, PROCESS_ENDED);
	refresh(&f, 100);
	read_at(&f, fast, 101);
	read_at(&f, slow, 101);
	snapshot = services_begin(&f.services, slow, HUGE_VAL);
	CHECK_INT(snapshot_process_subject(snapshot, 1) >= 0, true);
	refresh(&f, 110);
	CHECK_INT(snapshot_process_subject(f.services.snapshot, 1), -1);
	CHECK_UINT(maps_count("process_free"), 0);
	CHECK_UINT(f.labels[1].state, PROCESS_ENDED);
	refresh(&f, 120);
	CHECK_UINT(maps_count("process_free"), 0);
	CASE("no longer in use");
	services_read(&f.services, slow, snapshot, S(111));
	refresh(&f, 130);
	CHECK_UINT(maps_count("process_free"), 1);
	CHECK_UINT(f.labels[1].state, PROCESS_FREE);
	fixture_done(&f);
}

static bool busy = true;

static bool catch_up_unless_busy(void *of)
{
	(*(unsigned *)of)++;
	return !busy;
}

/* A subscriber that is late because its reading is in progress is asked again. */
static void test_late_and_reading(void)
{
	unsigned calls = 0;
	struct fixture f;
	int slow;

	CASE("late, and reading");
	fixture_init(&f);
	slow = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, catch_up_unless_busy,
			       &calls);
	use_row(&f, 3);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_INT(f.services.snapshot->states[3].state, ROW_RETIRED);
	refresh(&f, 123);
	refresh(&f, 133);
	CHECK_UINT(calls, 2);
	CHECK_INT(f.services.snapshot->states[3].state, ROW_RETIRED);
	busy = false;
	refresh(&f, 143);
	CHECK_UINT(calls, 3);
	CHECK_INT(f.services.snapshot->states[3].state, ROW_FREE);
	CASE("seen until then, but not read");
	CHECK_UINT(f.services.lifecycle.subscribers.item[slow].seen_ns, S(143));
	CHECK_UINT(f.services.lifecycle.subscribers.item[slow].read_ns, 0);
	fixture_done(&f);
}

/* As the kernel with processes that live briefly, in all rows for names. */
static void churn(struct fixture *f, unsigned n)
{
	for (uint32_t row = CONFIGURED + 1; row < ROWS; row++) {
		struct service *s = &f->kernel_rows[row];

		if (__atomic_load_n(&s->flags, __ATOMIC_ACQUIRE) & SERVICE_USED)
			continue;
		s->key.text[0] = (char)('a' + n % 26);
		__atomic_store_n(&s->processes, n % 2, __ATOMIC_RELAXED);
		__atomic_store_n(&s->flags, SERVICE_USED, __ATOMIC_RELEASE);
	}
}

struct reading_thread {
	struct fixture *f;
	int subscriber;
	unsigned odd;
};

/* In each snapshot, the subject of each row must exist. */
static void *read_often(void *of)
{
	struct reading_thread *reading_thread = of;

	for (unsigned n = 0; n < READINGS; n++) {
		const struct snapshot *snapshot = services_begin(
			&reading_thread->f->services, reading_thread->subscriber, n % 3 * 1e-4);
		uint64_t begin_ns = clock_ns();

		for (uint32_t row = 0; row < snapshot->row_count; row++) {
			int subject = snapshot_subject(snapshot, row);

			reading_thread->odd +=
				subject < 0 || !snapshot->subjects.subject[subject].used;
			snapshot_set_active(snapshot, row);
		}
		services_read(&reading_thread->f->services, reading_thread->subscriber, snapshot,
			      begin_ns);
		services_catch_up(&reading_thread->f->services, clock_ns());
	}
	return NULL;
}

static void test_threads(void)
{
	struct reading_thread reading_threads[THREADS];
	pthread_t threads[THREADS];
	struct fixture f;

	CASE("threads");
	fixture_init(&f);
	set_interval(&f, 100000);
	for (size_t i = 0; i < THREADS; i++) {
		reading_threads[i] = (struct reading_thread){ .f = &f };
		reading_threads[i].subscriber =
			subscribers_add(&f.services.lifecycle.subscribers, 1e-4, NULL, NULL);
	}
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, read_often, &reading_threads[i]) != 0)
			abort();
	for (unsigned n = 0; n < READINGS; n++) {
		churn(&f, n);
		usleep(50);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_UINT(reading_threads[i].odd, 0);
	}
	CHECK_UINT(f.services.snapshot->users, 1);
	fixture_done(&f);
}

/* Logged at most once an hour. */
static void test_logged(void)
{
	struct fixture f;

	fixture_init(&f);
	set_max_new_services(&f, 7);
	for (unsigned i = 0; i < 3; i++) {
		CASE("logged, %u", i);
		refuse_names(&f, i);
		services_resolve(&f.services, clock_ns());
		CHECK_UINT(daemon_messages(), i > 0);
	}
	CHECK_HAS(daemon_message(0), "than MaxNewServices 7 allows per hour: 1 are counted");
	CASE("logged, an hour later");
	age_refusal_message(&f);
	services_resolve(&f.services, clock_ns());
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(1), "per hour: 2 are counted");
	daemon_clear();
	fixture_done(&f);
}

int main(void)
{
	message_to(daemon_record);
	test_once();
	test_constant();
	test_process_in_use();
	test_late_and_reading();
	test_threads();
	test_logged();
	return testing_end();
}
