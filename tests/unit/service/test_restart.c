/* SPDX-License-Identifier: MIT */
/*
 * Which services were restarted. The kernel's side is played: when each row got its first process.
 */
#include "tests/unit/fake/named_rows.h"

#include "plugin/service/restart.h"

#define LIVED (6 * INTERVAL_S)

/* The only restart, at this time; "" if there is none. */
static void check(struct fixture *f, const char *service, double time_s, double without_s)
{
	struct restart restart = { .time_ns = 0 };

	CHECK_INT(services_claim_restart(&f->services, &restart), *service != '\0');
	CHECK_TEXT(restart.service, service);
	CHECK_REAL((double)restart.time_ns / NS_PER_S, time_s, 1e-6);
	CHECK_REAL((double)restart.without_ns / NS_PER_S, without_s, 1e-6);
	CHECK_INT(services_claim_restart(&f->services, &restart), false);
}

/* A service of a Service block whose processes have run since 1 s, as seen at 2 s and at `seen_s`. */
static void run_from_1(struct fixture *f, double seen_s)
{
	fixture_init(f);
	begin_processes(f, CONFIGURED, 2, 1);
	refresh(f, 2);
	refresh(f, seen_s);
	check(f, "", 0, 0);
}

static void test_restart(void)
{
	static const struct {
		const char *what;
		double seen_s, began_s;
		const char *service;
	} cases[] = {
		{ "no new process", 100, 1, "" },
		{ "restarted between two refreshes", 100, 101, "web" },
		{ "restarted after an hour without a process", 100, 3700, "web" },
		{ "has lived for long enough", 1 + LIVED, 2 + LIVED, "web" },
		{ "has not", LIVED, 2 + LIVED, "" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool any = *cases[i].service;
		struct fixture f;

		CASE("%s", cases[i].what);
		run_from_1(&f, cases[i].seen_s);
		set_processes(&f, CONFIGURED, 0);
		if (cases[i].began_s - cases[i].seen_s > INTERVAL_S)
			refresh(&f, cases[i].seen_s + INTERVAL_S);
		begin_processes(&f, CONFIGURED, 1, cases[i].began_s);
		refresh(&f, cases[i].began_s + 105);
		check(&f, cases[i].service, any ? cases[i].began_s : 0,
		      any ? cases[i].began_s - cases[i].seen_s : 0);
		refresh(&f, cases[i].began_s + 110);
		check(&f, "", 0, 0);
		fixture_done(&f);
	}
}

/* Each replica has a row: when the last old one is gone, all are new. */
static void test_replicas(void)
{
	struct fixture f;

	CASE("one of two is old");
	fixture_init(&f);
	allow_names(&f, 1, 1);
	claim_replica(&f, 3, ID_A, "shop_web_app", WORKLOAD_DEPLOYMENT);
	begin_processes(&f, 3, 1, 1);
	claim_replica(&f, 4, ID_B, "shop_web_app", WORKLOAD_DEPLOYMENT);
	begin_processes(&f, 4, 1, 2);
	refresh(&f, 10);
	refresh(&f, 20);
	refresh(&f, 90);
	begin_processes(&f, 3, 1, 100);
	refresh(&f, 101);
	check(&f, "", 0, 0);
	CASE("both are new");
	refresh(&f, 119);
	set_processes(&f, 4, 0);
	refresh(&f, 120);
	check(&f, "shop_web_app", 120, 0);
	fixture_done(&f);
}

/* Of a service that is restarted all the time, six in an hour. */
static void test_limit(void)
{
	struct restart restart;
	struct fixture f;
	unsigned count = 0;

	CASE("restarted every 100 s");
	run_from_1(&f, 99);
	for (unsigned i = 1; i <= 36; i++) {
		begin_processes(&f, CONFIGURED, 1, 100 * i);
		refresh(&f, 100 * i + 1);
		refresh(&f, 100 * i + 99);
		count += services_claim_restart(&f.services, &restart);
	}
	/* A burst, and the share of the hour. */
	CHECK_INT(count >= 11 && count <= 12, true);
	fixture_done(&f);
}

/* The first sight of a service is no restart, and neither is its name given to another row. */
static void test_new(void)
{
	struct fixture f;

	CASE("a new service");
	fixture_init(&f);
	allow_names(&f, 9, 9);
	refresh(&f, 1000);
	claim_replica(&f, 3, ID_A, "new", WORKLOAD_DEPLOYMENT);
	begin_processes(&f, 3, 1, 1001);
	refresh(&f, 1002);
	refresh(&f, 1020);
	CHECK_INT(state(&f, 3), ROW_SHOWN);
	check(&f, "", 0, 0);
	CASE("gone, and its row has another name");
	refresh(&f, 1100);
	set_processes(&f, 3, 0);
	for (double s = 1110; s < 1400; s += 10)
		refresh(&f, s);
	CHECK_INT(state(&f, 3), ROW_FREE);
	claim_replica(&f, 3, ID_B, "other2", WORKLOAD_DEPLOYMENT);
	begin_processes(&f, 3, 1, 1400);
	refresh(&f, 1401);
	refresh(&f, 1420);
	CHECK_TEXT(subject(&f, 3), "other2");
	check(&f, "", 0, 0);
	CASE("it is there again, in another row");
	claim_replica(&f, 4, ID_A, "new", WORKLOAD_DEPLOYMENT);
	begin_processes(&f, 4, 1, 4700);
	refresh(&f, 4701);
	refresh(&f, 4720);
	check(&f, "new", 4700, 3600);
	fixture_done(&f);
}

/* A program that runs again and again. */
static void test_command(void)
{
	struct fixture f;

	CASE("what only a command names");
	fixture_init(&f);
	allow_names(&f, 9, 9);
	claim_row(&f, 3, "report", 1);
	begin_processes(&f, 3, 1, 1);
	refresh(&f, 10);
	refresh(&f, 90);
	CHECK_INT(state(&f, 3), ROW_SHOWN);
	begin_processes(&f, 3, 1, 100);
	refresh(&f, 101);
	check(&f, "", 0, 0);
	fixture_done(&f);
}

int main(void)
{
	test_restart();
	test_replicas();
	test_limit();
	test_new();
	test_command();
	return testing_end();
}
