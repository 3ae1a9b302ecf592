/* SPDX-License-Identifier: MIT */
/*
 * Names of rows: replicas have one subject. The kernel's side is played.
 */
#include "tests/unit/fake/named_rows.h"

/* A rolling update: a new pod comes, the old one ends, another comes. */
static void test_replicas(void)
{
	uint64_t generation;
	struct fixture f;

	CASE("replicas");
	fixture_init(&f);
	allow_names(&f, 1, 1);
	claim_replica(&f, 3, ID_A, "shop_web_app", WORKLOAD_DEPLOYMENT);
	refresh(&f, 100);
	refresh(&f, 110);
	generation = generation_of(&f, 3);
	claim_replica(&f, 4, ID_B, "shop_web_app", WORKLOAD_DEPLOYMENT);
	refresh(&f, 112);
	CHECK_TEXT(subject(&f, 4), "shop_web_app");
	CHECK_INT(f.services.snapshot->states[3].subject, f.services.snapshot->states[4].subject);
	CHECK_UINT(f.services.snapshot->names_refused, 0);
	CHECK_UINT(f.services.snapshot->shown, 4);
	CHECK_UINT(snapshot_first_row(f.services.snapshot, 3), 3);
	CHECK_UINT(snapshot_first_row(f.services.snapshot, 4), 3);
	CHECK_UINT(snapshot_first_row(f.services.snapshot, 5), 5);
	CASE("replicas, the older one ends");
	end(&f, 3);
	refresh(&f, 120);
	refresh(&f, 300);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	refresh(&f, 320);
	refresh(&f, 1000);
	CHECK_INT(state(&f, 3), ROW_FREE);
	CHECK_UINT(snapshot_first_row(f.services.snapshot, 4), 4);
	CHECK_TEXT(subject(&f, 4), "shop_web_app");
	CHECK_UINT(generation_of(&f, 4), generation);
	claim_replica(&f, 3, ID_C, "shop_web_app", WORKLOAD_DEPLOYMENT);
	refresh(&f, 1010);
	CHECK_UINT(generation_of(&f, 3), generation);
	fixture_done(&f);
}

/* Of refused replicas only one needs a new name. */
static void test_refused_replicas(void)
{
	struct fixture f;

	CASE("no new names");
	fixture_init(&f);
	allow_names(&f, 1, 0);
	claim_replica(&f, 3, ID_A, "shop_web_app", WORKLOAD_DEPLOYMENT);
	claim_replica(&f, 4, ID_B, "shop_web_app", WORKLOAD_DEPLOYMENT);
	refresh(&f, 0.001);
	refresh(&f, 10);
	CHECK_TEXT(subject(&f, 3), "other");
	CHECK_TEXT(subject(&f, 4), "other");
	CASE("one new name");
	allow_names(&f, 1, 1);
	refresh(&f, 11);
	CHECK_TEXT(subject(&f, 3), "shop_web_app");
	CHECK_TEXT(subject(&f, 4), "shop_web_app");
	fixture_done(&f);
}

static void test_no_replicas(void)
{
	static const struct {
		enum group_kind kind;
		enum workload workload;
	} cases[] = {
		{ GROUP_PODMAN, WORKLOAD_NOMAD },
		{ GROUP_DOCKER, WORKLOAD_SWARM },
		{ GROUP_DOCKER, WORKLOAD_NONE },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct row_name named = { .round = ROUND,
					  .is_settled = true,
					  .workload = cases[i].workload,
					  .name = "web",
					  .other_name = "web-b" };
		struct fixture f;

		CASE("of one name and no replicas, %zu", i);
		fixture_init(&f);
		claim_replica(&f, 3, ID_A, "web", WORKLOAD_NOMAD);
		claim_key(&f, 4, cases[i].kind, ID_B, 1);
		named.key = key_of_row(&f, 4);
		row_name_set(&f.services.lifecycle, 4, &named);
		refresh(&f, 100);
		refresh(&f, 110);
		/* A Service block has the name, too. */
		CHECK_TEXT(subject(&f, 3), "web+48721ef2");
		CHECK_TEXT(subject(&f, 4), "web-b");
		fixture_done(&f);
	}
}

/* Replicas that cannot have their name share another one. */
static void test_replicas_renamed(void)
{
	struct fixture f;

	CASE("replicas, and a unit of their name");
	fixture_init(&f);
	claim_replica(&f, 3, ID_A, "proxy", WORKLOAD_SWARM);
	claim_replica(&f, 4, ID_B, "proxy", WORKLOAD_SWARM);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "proxy");
	CHECK_TEXT(subject(&f, 4), "proxy");
	claim_unit(&f, 5, "proxy");
	refresh(&f, 120);
	refresh(&f, 130);
	CHECK_TEXT(subject(&f, 5), "proxy");
	CHECK_TEXT(subject(&f, 3), "proxy+6d67f11c");
	CHECK_TEXT(subject(&f, 4), "proxy+6d67f11c");
	CASE("replicas with another name, one ends and another comes");
	end(&f, 3);
	refresh(&f, 140);
	refresh(&f, 400);
	refresh(&f, 420);
	claim_replica(&f, 3, ID_C, "proxy", WORKLOAD_SWARM);
	refresh(&f, 430);
	CHECK_TEXT(subject(&f, 4), "proxy+6d67f11c");
	CHECK_TEXT(subject(&f, 3), "proxy+6d67f11c");
	fixture_done(&f);
	CASE("replicas with a reserved name");
	fixture_init(&f);
	claim_replica(&f, 3, ID_A, "web", WORKLOAD_SWARM);
	claim_replica(&f, 4, ID_B, "web", WORKLOAD_SWARM);
	refresh(&f, 100);
	refresh(&f, 110);
	CHECK_TEXT(subject(&f, 3), "web+48721ef2");
	CHECK_TEXT(subject(&f, 4), "web+48721ef2");
	fixture_done(&f);
}

int main(void)
{
	test_replicas();
	test_refused_replicas();
	test_no_replicas();
	test_replicas_renamed();
	return testing_end();
}
