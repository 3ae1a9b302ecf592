/* SPDX-License-Identifier: MIT */
/*
 * The life of a process row: a process of a service with series of its own, from its first reading
 * to its last. The kernel's side is played.
 */
#include "tests/unit/fake/services.h"

static const char *process_subject(const struct fixture *f, uint32_t process)
{
	int subject = snapshot_process_subject(f->services.snapshot, process);

	return subject < 0 ? "(none)" : f->services.snapshot->subjects.subject[subject].name;
}

static void test_processes(void)
{
	struct fixture f;
	uint32_t process = 0;
	int subscriber;

	CASE("process");
	fixture_init(&f);
	subscriber = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	label_process(&f, 1, 12.349, 77, CONFIGURED, PROCESS_ALIVE);
	refresh(&f, 100);
	/* Field 22 of /proc/PID/stat, in ticks of 10 ms. */
	CHECK_TEXT(process_subject(&f, 1), "web-77-1234");
	CHECK_UINT(f.services.snapshot->subjects
			   .subject[snapshot_process_subject(f.services.snapshot, 1)]
			   .top_n,
		   7);
	CHECK_UINT(f.services.snapshot->subjects
			   .subject[snapshot_process_subject(f.services.snapshot, 1)]
			   .rank_group,
		   CONFIGURED);
	CHECK_TEXT(process_subject(&f, 2), "(none)");
	refresh(&f, 110);
	CHECK_TEXT(process_subject(&f, 1), "web-77-1234");
	read_at(&f, subscriber, 110);
	CASE("process that has ended, not read");
	end_process(&f, 1);
	refresh(&f, 120);
	refresh(&f, 125);
	CHECK_TEXT(process_subject(&f, 1), "web-77-1234");
	CHECK_UINT(maps_count("process_free"), 0);
	CASE("process that has ended, read");
	read_at(&f, subscriber, 130);
	refresh(&f, 140);
	CHECK_TEXT(process_subject(&f, 1), "(none)");
	CHECK_UINT(f.labels[1].state, PROCESS_FREE);
	CHECK_INT(maps_pop("process_free", &process), true);
	CHECK_UINT(process, 1);
	CASE("its pid, another process");
	label_process(&f, 1, 141, 77, CONFIGURED, PROCESS_ALIVE);
	refresh(&f, 150);
	CHECK_TEXT(process_subject(&f, 1), "web-77-14100");
	fixture_done(&f);
}

/* A process that starts and ends between two readings has series in one of them. */
static void test_short_process(void)
{
	struct fixture f;
	int subscriber;

	CASE("short process");
	fixture_init(&f);
	subscriber = subscribers_add(&f.services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	label_process(&f, 2, 99, 78, CONFIGURED, PROCESS_ENDED);
	refresh(&f, 100);
	CHECK_TEXT(process_subject(&f, 2), "web-78-9900");
	read_at(&f, subscriber, 100);
	refresh(&f, 110);
	read_at(&f, subscriber, 110);
	refresh(&f, 120);
	CHECK_TEXT(process_subject(&f, 2), "(none)");
	fixture_done(&f);
}

/* Rows of services that are not configured have no process series; their process rows are freed
 * as well. */
static void test_process_of_no_service(void)
{
	static const uint32_t rows[] = { SERVICE_OTHER, SERVICE_KERNEL, CONFIGURED + 1,
					 UINT32_MAX };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture f;

		CASE("process of row %u", rows[i]);
		fixture_init(&f);
		label_process(&f, 1, 1, 77, rows[i], PROCESS_ALIVE);
		refresh(&f, 100);
		CHECK_TEXT(process_subject(&f, 1), "(none)");
		end_process(&f, 1);
		refresh(&f, 110);
		refresh(&f, 120);
		CHECK_UINT(maps_count("process_free"), 1);
		fixture_done(&f);
	}
}

/* If a service has the name of its series, those of the process get another. */
static void test_process_of_a_service_name(void)
{
	struct fixture f;

	CASE("a service is called like the series of a process");
	fixture_init(&f);
	subjects_reserve(&f.services.lifecycle.subjects, SUBJECT_SERVICE, "web-77-1234", 0);
	label_process(&f, 1, 12.34, 77, CONFIGURED, PROCESS_ALIVE);
	refresh(&f, 100);
	CHECK_TEXT(process_subject(&f, 1), "web-77-1234+eccdd4fe");
	fixture_done(&f);
}

int main(void)
{
	test_processes();
	test_short_process();
	test_process_of_no_service();
	test_process_of_a_service_name();
	return testing_end();
}
