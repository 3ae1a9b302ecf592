/* SPDX-License-Identifier: MIT */
/*
 * Which subjects get the growth of rows of services and processes. Rows and services are in
 * ordinary memory: no kernel is needed.
 */
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/table.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/object/object.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* The rows of hidden services add up under "other", gauges included. */
static void test_sum(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", S32, 8, "gauge"),
	};
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;
	size_t other;

	CASE("sum");
	snapshot_of_six(&f);
	show_configured(&f, 2, "web");
	show_command(&f, 3, "web"); /* a command of the same name: another subject */
	rows = row_table(&table, members, 2, 16, ROWS, SUBJECT_SERVICE);
	for (uint64_t i = 0; i < ROWS; i++) {
		rows[2 * i] = i + 1;
		rows[2 * i + 1] = i == 4 ? 0xffffff9c : 10 * i; /* -100 */
	}
	read_at(&table, &f.snapshot, S(1));
	other = subject_of_row(&f, SERVICE_OTHER);
	CHECK_UINT(total(&table, other, 0), 1 + 4 + 5 + 6);
	CHECK_INT(window(&table, other, 1), 0 - 100 + 50);
	CHECK_UINT(total(&table, subject_of_row(&f, 2), 0), 3);
	CHECK_INT(window(&table, subject_of_row(&f, 2), 1), 20);
	CHECK_UINT(total(&table, subject_of_row(&f, 3), 0), 0);
	CHECK_INT(window(&table, subject_of_row(&f, 3), 1), 30);
	CHECK_UINT(total(&table, subject_of_row(&f, SERVICE_KERNEL), 0), 2);
	read_at(&table, &f.snapshot, S(2));
	CHECK_UINT(window(&table, other, 0), 0);
	CHECK_INT(window(&table, other, 1), 0 - 100 + 50);
	CHECK_UINT(total(&table, other, 0), 16);
	table_done(&table);
	snapshot_done(&f);
}

/* What programs count only in part has no series of "other", not even of 0. */
static void test_without_other(void)
{
	static const struct row_member members[] = { MEMBER("a", U64, 0, "derive") };

	for (int asks = 0; asks <= 1; asks++) {
		struct fake_snapshot f;
		struct table table;
		uint64_t *rows;

		CASE("programs %s", asks ? "ask for other" : "count for all");
		snapshot_of_six(&f);
		set_other_unwatched(&f, true);
		show_configured(&f, 2, "web");
		rows = row_table(&table, members, 1, 8, ROWS, SUBJECT_SERVICE);
		table.asks_for_other = asks;
		rows[2] = 3;
		rows[3] = 4; /* hidden */
		read_at(&table, &f.snapshot, S(1));
		CHECK_UINT(total(&table, subject_of_row(&f, 2), 0), 3);
		CHECK_INT(has_cells(&table, subject_of_row(&f, SERVICE_OTHER)), !asks);
		table_done(&table);
		snapshot_done(&f);
	}
}

/* Hidden, shown, hidden again: no counter decreases, nothing counts twice, and growth before the
 * first reading of a new series stays other's. */
static void test_promotion(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;
	size_t other, web;

	snapshot_of_six(&f);
	other = subject_of_row(&f, SERVICE_OTHER);
	rows = row_table(&table, &member, 1, 8, ROWS, SUBJECT_SERVICE);
	CASE("hidden");
	rows[2] = 1000;
	read_at(&table, &f.snapshot, S(1));
	CHECK_UINT(total(&table, other, 0), 1000);
	CASE("shown");
	show_command(&f, 2, "web");
	web = subject_of_row(&f, 2);
	rows[2] += 50;
	read_at(&table, &f.snapshot, S(2));
	CHECK_UINT(total(&table, web, 0), 0);
	CHECK_UINT(window(&table, web, 0), 0);
	CHECK_UINT(total(&table, other, 0), 1050);
	CHECK_UINT(window(&table, other, 0), 50);
	CHECK_INT(fed(&table, web), true);
	rows[2] += 7;
	read_at(&table, &f.snapshot, S(3));
	CHECK_UINT(total(&table, web, 0), 7);
	CHECK_UINT(window(&table, web, 0), 7);
	CASE("hidden again");
	retire_row(&f, 2);
	rows[2] += 3;
	read_at(&table, &f.snapshot, S(4));
	CHECK_UINT(total(&table, other, 0), 1053);
	CHECK_INT(fed(&table, web), false);
	CHECK_INT(fed(&table, other), true);
	table_done(&table);
	snapshot_done(&f);
}

/* A subject with a reused number starts from zero. */
static void test_generation(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;
	size_t web;

	CASE("generation");
	snapshot_of_six(&f);
	rows = row_table(&table, &member, 1, 8, ROWS, SUBJECT_SERVICE);
	show_command(&f, 2, "web");
	web = subject_of_row(&f, 2);
	read_at(&table, &f.snapshot, S(0));
	rows[2] = 1000;
	read_at(&table, &f.snapshot, S(1));
	CHECK_UINT(total(&table, web, 0), 1000);
	retire_row(&f, 2);
	show_command(&f, 3, "db");
	CHECK_UINT(subject_of_row(&f, 3), web);
	read_at(&table, &f.snapshot, S(2));
	CHECK_UINT(total(&table, web, 0), 0);
	rows[3] = 5;
	read_at(&table, &f.snapshot, S(3));
	CHECK_UINT(total(&table, web, 0), 5);
	table_done(&table);
	snapshot_done(&f);
}

/* A row that grows by N per second or more gets series of its own. */
static void test_active(void)
{
	static const struct {
		uint64_t grown, elapsed_s;
		bool want;
	} cases[] = {
		{ 1000, 10, true },   { 999, 10, false }, { 5000, 10, true }, { 100, 1, true },
		{ 5000, 100, false }, { 0, 10, false },   { 1000, 0, false },
	};
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive-a"),
		MEMBER("b", U64, 8, "derive-b active=100"),
		MEMBER("c", U64, 16, "gauge-c active=100"),
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fake_snapshot f;
		struct table table;
		uint64_t *rows;

		CASE("notable: %" PRIu64 " in %" PRIu64 " s", cases[i].grown, cases[i].elapsed_s);
		snapshot_of_six(&f);
		rows = row_table(&table, members, 3, 24, ROWS, SUBJECT_SERVICE);
		if (cases[i].elapsed_s)
			read_at(&table, &f.snapshot, S(100));
		rows[3 * 4] = 1000000;  /* of a column without the word */
		rows[3 * 4 + 2] = 1000; /* of a gauge */
		rows[3 * 5 + 1] = cases[i].grown;
		read_at(&table, &f.snapshot, S(100 + cases[i].elapsed_s));
		CHECK_INT(is_active(&f, 4), false);
		CHECK_INT(is_active(&f, 5), cases[i].want);
		table_done(&table);
		snapshot_done(&f);
	}
}

/* Growth of a row without an owner is not the next owner's. */
static void test_nobody(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;

	CASE("no owner");
	snapshot_of_six(&f);
	rows = row_table(&table, &member, 1, 8, ROWS, SUBJECT_PROCESS);
	rows[1] = 1000;
	read_at(&table, &f.snapshot, S(1));
	CHECK_UINT(table.accumulators.count, 0);
	show_ranked_process(&f, 1, "web-1", 2, 10);
	rows[1] += 5;
	read_at(&table, &f.snapshot, S(2));
	CHECK_UINT(total(&table, subject_of_process(&f, 1), 0), 5);
	table_done(&table);
	snapshot_done(&f);
}

/* An object that is opened, not loaded: which of its maps are tables. */
static struct bpf_object *open_process(void)
{
	return bpf_object__open_file(testing_built("bpf/process.bpf.o"), NULL);
}

static int ignore(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static void test_open(void)
{
	static const struct {
		const char *name, *map;
		enum bpf_map_type type;
		uint32_t flags;
		int tagged, status;
		const char *error;
	} cases[] = {
		{ "services", "process_services", BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE, 1, 0, "" },
		{ "processes", "process_rows", BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE, 1, 0, "" },
		{ "no struct", "percpu_anchor", BPF_MAP_TYPE_PERCPU_ARRAY, 0, 0, 0, "" },
		{ "no tags", "service_tasks", BPF_MAP_TYPE_TASK_STORAGE, 0, 0, 0, "" },
		{ "a hash", "process_services", BPF_MAP_TYPE_HASH, BPF_F_MMAPABLE, 1, -EINVAL,
		  "map process_services: rows of a hash need SUBJECT(\"key\")" },
		{ "not mmap-able", "process_rows", BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY_PROG, 1,
		  -EINVAL,
		  "map process_rows: METRIC tags need an array with BPF_F_MMAPABLE, a per-CPU array or a hash" },
	};
	static const struct row_counts counts = { .services = 7, .processes = 9, .shards = 4 };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bpf_object *object = open_process();
		struct error error = { "" };
		struct table table;
		struct bpf_map *map;

		CASE("open, %s", cases[i].name);
		map = object ? bpf_object__find_map_by_name(object, cases[i].map) : NULL;
		CHECK_INT(map != NULL, 1);
		if (!map)
			break;
		bpf_map__set_type(map, cases[i].type);
		bpf_map__set_map_flags(map, cases[i].flags);
		CHECK_INT(table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type,
				     NULL, &error),
			  cases[i].tagged);
		if (cases[i].tagged)
			CHECK_INT(table_resize(&table, &counts, object, &error), cases[i].status);
		CHECK_TEXT(error.text, cases[i].error);
		if (cases[i].tagged && cases[i].status == 0) {
			CHECK_UINT(bpf_map__max_entries(map), table.rows.count);
			CHECK_INT(table_start(&table, &error), -EBADF);
			CHECK_HAS(error.text, "cannot map its rows: Bad file descriptor");
		}
		table_done(&table);
		bpf_object__close(object);
	}
}

static void catch_up_at(struct table *table, const struct snapshot *snapshot, uint64_t now_ns)
{
	struct error error = { "" };

	CHECK_INT(table_catch_up(table, snapshot, now_ns, &error), 0);
}

/* A row changes its owner between two readings: each owner gets its growth, even if that is
 * dispatched later, and the earlier readings count with their elapsed time. */
static void test_catch_up(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", U64, 8, "gauge"),
	};
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;
	size_t old, new;

	CASE("catch up");
	snapshot_of_six(&f);
	show_command(&f, 3, "old");
	old = subject_of_row(&f, 3);
	rows = row_table(&table, members, 2, 16, ROWS, SUBJECT_SERVICE);
	read_at(&table, &f.snapshot, S(10));
	rows[6] = 10;
	rows[7] = 3;
	catch_up_at(&table, &f.snapshot, S(20));
	rows[6] = 11;
	rows[7] = 2;
	catch_up_at(&table, &f.snapshot, S(30));
	CASE("catch up, another name");
	reset_row(&f, 3, ROW_HIDDEN);
	rows[6] = 111;
	rows[7] = 1;
	catch_up_at(&table, &f.snapshot, S(40));
	show_command(&f, 3, "new");
	new = subject_of_row(&f, 3);
	read_at(&table, &f.snapshot, S(50));
	CHECK_UINT(table.elapsed_ns, S(40));
	CHECK_INT(fed(&table, old), true);
	CHECK_UINT(window(&table, old, 0), 11);
	CHECK_UINT(total(&table, old, 0), 11);
	CHECK_UINT(window(&table, old, 1), 0);
	CHECK_UINT(window(&table, subject_of_row(&f, SERVICE_OTHER), 0), 100);
	CHECK_UINT(window(&table, subject_of_row(&f, SERVICE_OTHER), 1), 0);
	CHECK_UINT(window(&table, new, 0), 0);
	CHECK_UINT(window(&table, new, 1), 1);
	CASE("after it");
	rows[6] = 112;
	read_at(&table, &f.snapshot, S(60));
	CHECK_UINT(table.elapsed_ns, S(10));
	CHECK_INT(fed(&table, old), false);
	CHECK_UINT(window(&table, new, 0), 1);
	CHECK_UINT(total(&table, subject_of_row(&f, SERVICE_OTHER), 0), 100);
	CASE("its subject has left, and another one has its number");
	rows[6] = 115;
	catch_up_at(&table, &f.snapshot, S(65));
	retire_row(&f, 3);
	CHECK_INT(subjects_enter(&f.snapshot.subjects, SUBJECT_COMMAND, "third"), (int)new);
	read_at(&table, &f.snapshot, S(70));
	CHECK_INT(fed(&table, new), false);
	table_done(&table);
	snapshot_done(&f);
}

/* If a reading that catches up was missed, no growth counts under a wrong name, and growth that
 * can only be of one name is not lost. */
static void test_miss(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct fake_snapshot f;
	struct table table;
	uint64_t *rows;

	CASE("missed");
	snapshot_of_six(&f);
	show_configured(&f, 2, "web");
	show_command(&f, 3, "old");
	rows = row_table(&table, &member, 1, 8, ROWS, SUBJECT_SERVICE);
	read_at(&table, &f.snapshot, S(10));
	rows[2] = 5;
	rows[3] = 10;
	table_miss(&table);
	rows[3] = 20;
	read_at(&table, &f.snapshot, S(20));
	CHECK_UINT(window(&table, subject_of_row(&f, 2), 0), 5);
	CHECK_UINT(window(&table, subject_of_row(&f, 3), 0), 0);
	rows[3] = 21;
	read_at(&table, &f.snapshot, S(30));
	CHECK_UINT(total(&table, subject_of_row(&f, 3), 0), 1);
	table_done(&table);
	snapshot_done(&f);
}

int main(void)
{
	libbpf_set_print(ignore);
	test_sum();
	test_without_other();
	test_promotion();
	test_generation();
	test_active();
	test_nobody();
	test_open();
	test_catch_up();
	test_miss();
	return testing_end();
}
