/* SPDX-License-Identifier: MIT */
/*
 * Rows with shards, and rows that services get on first use. The kernel's side is played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/slots.h"

#include "plugin/cgroup/state.h"
#include "plugin/config/config.h"
#include "plugin/daemon/dispatch.h"

#include <bpf/libbpf.h>
#include <errno.h>

static void test_shards(void)
{
	static const struct {
		int cpus;
		uint32_t want;
	} cases[] = { { -1, 1 }, { 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 4 },
		      { 4, 4 },  { 5, 8 }, { 8, 8 }, { 9, 8 }, { 4096, 8 } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("shards of %d CPUs", cases[i].cpus);
		CHECK_UINT(rows_shards(cases[i].cpus), cases[i].want);
	}
}

/* A loss in one shard is a gain in another one; each shard of a gauge has a sign. */
static void test_sums(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", S32, 8, "gauge"),
		MEMBER("c", U32, 12, "derive-c"),
	};
	struct table table;
	uint64_t *row = row_table(&table, members, COUNT_OF(members), 16, 4, SUBJECT_PROBE);

	CASE("shards");
	row_table_shards(&table, 2, 2);
	read_at(&table, NULL, S(1));
	row[4] = 5;
	row[6] = (uint64_t)-2; /* removed on another CPU than it was added on */
	row[5] = 7 | 0xfffffff0ULL << 32;
	row[7] = (uint32_t)-10 | 0x20ULL << 32;
	read_at(&table, NULL, S(2));
	CHECK_UINT(table.accumulators.count, 2);
	CHECK_UINT(window(&table, 1, 0), 3);
	CHECK_INT((int64_t)window(&table, 1, 1), -3);
	CHECK_UINT(window(&table, 1, 2), 0x10); /* 32 bits that wrap */
	CHECK_UINT(total(&table, 0, 0), 0);
	table_done(&table);
}

static void test_first_use(void)
{
	struct slots_fixture f;

	slots_fixture_init(&f);
	CASE("no slot, no series");
	read_slots(&f, S(1));
	for (uint32_t row = 0; row < HIDDEN; row++)
		CHECK_INT(has_series(&f, row), false);
	CASE("first use");
	give_slot(&f, DB, 1);
	count(&f, 1, 10);
	read_slots(&f, S(2));
	check(&f, DB, 11, 11);
	CHECK_INT(has_series(&f, WEB), false);
	CHECK_INT(has_series(&f, SERVICE_OTHER), false);
	CHECK_UINT(rows_slots_used(&f.table.rows), 1);
	CASE("no slot is left");
	give_slot(&f, WEB, 2);
	count(&f, 0, 5);
	read_slots(&f, S(3));
	check(&f, WEB, 0, 0);
	check(&f, DB, 0, 11);
	check(&f, SERVICE_OTHER, 6, 6);
	CHECK_INT(has_series(&f, SERVICE_KERNEL), false);
	CHECK_UINT(rows_slots_used(&f.table.rows), 2);
	CASE("a slot that cannot be");
	f.via[WEB] = SLOTS;
	read_slots(&f, S(4));
	CHECK_INT(has_series(&f, WEB), false);
	check(&f, SERVICE_OTHER, 0, 6);
	slots_fixture_done(&f);
}

/* Its counts are other's while it is hidden and its own when it is shown; none is lost. */
static void test_hidden(void)
{
	struct slots_fixture f;

	slots_fixture_init(&f);
	CASE("hidden");
	give_slot(&f, HIDDEN, 1);
	count(&f, 1, 3);
	read_slots(&f, S(1));
	check(&f, SERVICE_OTHER, 4, 4);
	CASE("shown");
	show_row(&f.services, HIDDEN, SUBJECT_SERVICE, "tool");
	count(&f, 1, 6);
	read_slots(&f, S(2));
	check(&f, HIDDEN, 7, 7);
	check(&f, SERVICE_OTHER, 0, 4);
	slots_fixture_done(&f);
}

/* The next owner of a slot gets all of its own counts and none of the first owner's. */
static void test_given_back(void)
{
	struct slots_fixture f;
	size_t retired;

	slots_fixture_init(&f);
	retired = subject_of_row(&f.services, DB);
	give_slot(&f, DB, 2);
	count(&f, 2, 100);
	read_slots(&f, S(1));
	CHECK_INT(has_cells(&f.table, retired), true);
	CASE("exited");
	retire_row(&f.services, DB);
	count(&f, 2, 9);
	read_slots(&f, S(2));
	check(&f, SERVICE_OTHER, 10, 10);
	CHECK_UINT(f.via[DB], 0);
	CHECK_UINT(f.owners[2], 0);
	CASE("an exited service needs no memory");
	CHECK_INT(has_cells(&f.table, retired), false);
	CASE("services without a slot are notified");
	CHECK_UINT(f.owners[0], 1);
	CASE("the next owner");
	give_slot(&f, WEB, 2);
	count(&f, 2, 6);
	read_slots(&f, S(3));
	check(&f, WEB, 7, 7);
	check(&f, SERVICE_OTHER, 0, 10);
	CASE("remains of a row that is free");
	set_state(&f.services, DB, ROW_FREE);
	give_slot(&f, DB, 1);
	count(&f, 1, 1);
	read_slots(&f, S(4));
	check(&f, SERVICE_OTHER, 2, 12);
	CHECK_UINT(f.owners[1], 0);
	CASE("a service of a block without processes keeps its slot");
	CHECK_UINT(f.via[WEB], 2);
	CHECK_UINT(f.owners[2], WEB + 1);
	slots_fixture_done(&f);
}

/* A slot is not freed while its service exists: the service asks again when a slot is free. */
static void test_refused(void)
{
	struct slots_fixture f;

	slots_fixture_init(&f);
	CASE("refused a slot");
	f.via[DB] = f.via[WEB] = 1U << 31;
	read_slots(&f, S(1));
	CHECK_UINT(f.via[DB], 1U << 31);
	CASE("refused and exited");
	set_state(&f.services, DB, ROW_RETIRED);
	read_slots(&f, S(2));
	CHECK_UINT(f.via[DB], 0);
	CHECK_UINT(f.via[WEB], 1U << 31);
	CHECK_UINT(f.owners[0], 0);
	slots_fixture_done(&f);
}

/* If the first owner lowered a bucket by moving a sample, all counts of the second owner count. */
static void test_given_back_fallen(void)
{
	struct slots_fixture f;

	slots_fixture_init(&f);
	CASE("a bucket that has fallen");
	row_table_column_kind(&f.table, 0, COLUMN_HIST);
	give_slot(&f, DB, 2);
	count(&f, 2, 10);
	read_slots(&f, S(1));
	set_state(&f.services, DB, ROW_RETIRED);
	f.cells[2 * SHARDS] -= 5;
	read_slots(&f, S(2));
	give_slot(&f, WEB, 2);
	count(&f, 2, 1);
	read_slots(&f, S(3));
	check(&f, WEB, 2, 2);
	slots_fixture_done(&f);
}

/* The maps that a SUBJECT tag names are checked, and get their sizes. */
static void test_resize(void)
{
	static const struct row_counts counts = { .services = 9, .slots = 5, .shards = 4 };
	static const struct {
		const char *name, *map, *via; /* NULL: as in the tag */
		int status;
		uint32_t entries;
		const char *error;
	} cases[] = {
		{ "services", "sample_services", NULL, 0, 9, "" },
		{ "slots", "sample_slots", NULL, 0, 20, "" },
		{ "no such map", "sample_slots", "nothing", -EINVAL, 0,
		  "map nothing: via and owners need an array of u32" },
		{ "not of u32", "sample_slots", "sample_processes", -EINVAL, 0,
		  "map sample_processes: via and owners need an array of u32" },
		{ "one map for both", "sample_slots", "slot_owners", -EINVAL, 0,
		  "map slot_owners: a table needs maps of its own" },
		{ "its own rows", "sample_slots", "sample_slots", -EINVAL, 0,
		  "map sample_slots: a table needs maps of its own" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bpf_object *object =
			bpf_object__open_file(testing_built("tests/bpf/sample.bpf.o"), NULL);
		struct bpf_map *map = bpf_object__find_map_by_name(object, cases[i].map);
		struct error error = { "" };
		struct table table;

		CASE("resize, %s", cases[i].name);
		CHECK_INT(table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type,
				     NULL, &error),
			  1);
		if (cases[i].via)
			strcpy(table.schema.subject.via, cases[i].via);
		CHECK_INT(table_resize(&table, &counts, object, &error), cases[i].status);
		CHECK_HAS(error.text, cases[i].error);
		if (cases[i].status == 0)
			CHECK_UINT(bpf_map__max_entries(map), cases[i].entries);
		if (table.schema.subject.via[0] && cases[i].status == 0) {
			CHECK_UINT(bpf_map__max_entries(table.rows.via.map), 9);
			CHECK_UINT(bpf_map__max_entries(table.rows.owners.map), 5);
		}
		table_done(&table);
		bpf_object__close(object);
	}
}

/* Slots by grant: each configured service has one of its own in addition. */
static void test_grant(void)
{
	static const struct {
		size_t configured;
		unsigned from; /* enum service_source */
		uint32_t services, count, reserved, user_first;
	} cases[] = {
		{ 0, SERVICES_FROM_COMMANDS, 99, 5, 1, 1 },
		{ 0, SERVICES_FROM_COMMANDS | SERVICES_FROM_UNITS, 99, 5, 1, 3 },
		{ 0, SERVICES_FROM_CONTAINERS, 99, 5, 1, 5 },
		{ 3, SERVICES_FROM_COMMANDS | SERVICES_FROM_UNITS, 99, 8, 4, 6 },
		{ 3, 0, 5, 5, 4, 4 },
		{ 90, SERVICES_FROM_COMMANDS, 99, 95, 91, 91 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		static struct service_config services[90];
		struct config config = {
			.services = services,
			.service_count = cases[i].configured,
			.services_from = cases[i].from,
		};
		const struct row_counts counts = {
			.services = cases[i].services,
			.slots = 5,
			.by_grant = true,
			.shards = 4,
			.config = &config,
		};
		struct bpf_object *object =
			bpf_object__open_file(testing_built("tests/bpf/sample.bpf.o"), NULL);
		struct bpf_map *map = bpf_object__find_map_by_name(object, "sample_slots");
		/* Users may have containers, if their state can be read. */
		bool of_users = cases[i].from == SERVICES_FROM_CONTAINERS && state_is_readable();
		struct error error = { "" };
		struct table table;

		CASE("by grant, %zu configured of %u, from %#x", cases[i].configured,
		     cases[i].services, cases[i].from);
		CHECK_INT(table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type,
				     NULL, &error),
			  1);
		CHECK_INT(table_resize(&table, &counts, object, &error), 0);
		CHECK_UINT(table.rows.count, cases[i].count);
		CHECK_UINT(table.rows.reserved, cases[i].reserved);
		CHECK_UINT(table.rows.user_first, of_users ? 3 : cases[i].user_first);
		table_done(&table);
		bpf_object__close(object);
	}
}

/* With the largest number of services, the copy of a section is no larger. */
static void test_section(void)
{
	static const struct row_counts counts = { .services = 4611, .slots = 5, .shards = 1 };
	const char *path = testing_built("tests/bpf/hostile_section.bpf.o");
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_map *map = bpf_object__find_map_by_name(object, "rows");
	struct error error = { "" };
	struct table table;

	CASE("resize, a section of variables");
	CHECK_INT(
		table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type, NULL, &error),
		1);
	CHECK_INT(table_resize(&table, &counts, object, &error), -EINVAL);
	CHECK_HAS(error.text, "map .bss: via and owners need an array of u32");
	table_done(&table);
	bpf_object__close(object);
}

static void test_shared_map(void)
{
	struct bpf_map *map[] = { (struct bpf_map *)&map[0], (struct bpf_map *)&map[1],
				  (struct bpf_map *)&map[2], (struct bpf_map *)&map[3] };
	static const struct {
		int a[3], b[3]; /* map, via, owners; -1: none */
		bool want;
	} cases[] = {
		{ { 0, -1, -1 }, { 1, -1, -1 }, false }, { { 0, 1, 2 }, { 3, -1, -1 }, false },
		{ { 0, 1, 2 }, { 3, 1, -1 }, true },     { { 0, 1, 2 }, { 3, -1, 1 }, true },
		{ { 0, 1, 2 }, { 2, -1, -1 }, true },    { { 0, -1, -1 }, { 1, 0, -1 }, true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct rows rows[2] = { 0 };

		for (int k = 0; k < 2; k++) {
			const int *at = k ? cases[i].b : cases[i].a;

			rows[k].map = at[0] < 0 ? NULL : map[at[0]];
			rows[k].via.map = at[1] < 0 ? NULL : map[at[1]];
			rows[k].owners.map = at[2] < 0 ? NULL : map[at[2]];
		}
		CASE("share %zu", i);
		CHECK_INT(rows_have_common_map(&rows[0], &rows[1]), cases[i].want);
		CHECK_INT(rows_have_common_map(&rows[1], &rows[0]), cases[i].want);
	}
}

int main(void)
{
	test_shards();
	test_sums();
	test_first_use();
	test_hidden();
	test_given_back();
	test_refused();
	test_given_back_fallen();
	test_resize();
	test_grant();
	test_section();
	test_shared_map();
	return testing_end();
}
