/* SPDX-License-Identifier: MIT */
/*
 * Percentiles that the engine writes into rows. The rows are in ordinary memory: no kernel is
 * needed.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/slots.h"
#include "tests/unit/fake/string_list.h"

#include "bpf/lib/hist.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/table/tail_percentile.h"

#include <bpf/libbpf.h>
#include <errno.h>

#define WANT(member, tail)                                                                  \
	"map rows, member " member ": tail=" tail " is to be written there, which needs a " \
	"member \"u64 " tail "\" of the same row, without METRIC and for no other tail="

struct timed_row {
	uint64_t events;
	uint64_t bucket[HIST_BUCKETS], sum;
	uint64_t tail;
};

static const struct row_member members[] = {
	MEMBER("events", U64, 0, "derive"),
	MEMBER("time", HIST, 8, "latency scale=1/1000 tail=most"),
	MEMBER("most", U64, HIST_SIZE + 8, NULL),
};

static struct timed_row *make_table(struct table *table, uint32_t rows, enum subject_kind kind)
{
	return row_table(table, members, COUNT_OF(members), sizeof(struct timed_row), rows, kind);
}

static void add_values(struct timed_row *row, uint64_t value, uint64_t count)
{
	row->bucket[hist_index(value)] += count;
}

/* In units of the samples, not scaled; small values are exact. */
static void test_values(void)
{
	struct table table;
	struct timed_row *row = make_table(&table, 2, SUBJECT_PROBE);

	CASE("95 of 100");
	add_values(row, 5, 95);
	add_values(row, 1000, 5);
	read_at(&table, NULL, S(1));
	CHECK_UINT(row->tail, 6);
	CASE("94 of 100");
	add_values(row, 5, 94);
	add_values(row, 1000000, 6);
	read_at(&table, NULL, S(2));
	CHECK_REAL((double)row->tail, 1e6, 1e6 / 16);
	CASE("the other row");
	CHECK_UINT(row[1].tail, 0);
	add_values(&row[1], 7, 1);
	read_at(&table, NULL, S(3));
	CHECK_UINT(row[1].tail, 8);
	CASE("nothing");
	CHECK_UINT(row->tail, 0);
	read_at(&table, NULL, S(4));
	CHECK_UINT(row[1].tail, 0);
	CASE("a sample that moves");
	row->bucket[hist_index(5)]--;
	add_values(row, 9, 1);
	read_at(&table, NULL, S(5));
	CHECK_UINT(row->tail, 10);
	add_values(row, 5, 1);
	read_at(&table, NULL, S(6));
	CHECK_UINT(row->tail, 0);
	CHECK_UINT(row->events, 0);
	table_done(&table);
}

/* The shards of a row are added; the first one gets the percentile. */
static void test_shards(void)
{
	struct table table;
	struct timed_row *row = make_table(&table, 4, SUBJECT_PROBE);

	CASE("shards");
	row_table_shards(&table, 2, 2);
	add_values(&row[2], 3, 10);
	add_values(&row[3], 8, 10);
	read_at(&table, NULL, S(1));
	CHECK_UINT(row[2].tail, 8);
	CHECK_UINT(row[0].tail, 0);
	CHECK_UINT(row[1].tail, 0);
	CHECK_UINT(row[3].tail, 0);
	table_done(&table);
}

/* What is read to catch up belongs to the interval in progress. */
static void test_catch_up(void)
{
	struct error error = { "" };
	struct table table;
	struct timed_row *row = make_table(&table, 1, SUBJECT_PROBE);

	CASE("catching up");
	add_values(row, 2, 1);
	read_at(&table, NULL, S(1));
	add_values(row, 6, 100);
	CHECK_INT(table_catch_up(&table, NULL, S(2), &error), 0);
	CHECK_UINT(row->tail, 3);
	add_values(row, 2, 1);
	read_at(&table, NULL, S(3));
	CHECK_UINT(row->tail, 7);
	table_done(&table);
}

static void test_start(void)
{
	struct error error = { "" };
	struct table table;
	struct timed_row *row = make_table(&table, 1, SUBJECT_PROBE);

	CASE("what was there at the start");
	add_values(row, 6, 100);
	mapping_done(&table.tails);
	CHECK_INT(tails_start(&table, &error), 0);
	add_values(row, 2, 1);
	read_at(&table, NULL, S(1));
	CHECK_UINT(row->tail, 3);
	CHECK_UINT(tails_memory(&table), HIST_BUCKETS * 8);
	table_done(&table);
}

/* The column of the histogram is off; its percentile is written all the same. */
static void test_not_collected(void)
{
	const struct strings collect = STRINGS("derive");
	const struct selection selection = { .collect = &collect, .chooses = true };
	struct table table;
	struct timed_row *row = make_table(&table, 1, SUBJECT_PROBE);

	CASE("not collected");
	CHECK_INT(selection_apply(&selection, &table.schema), 0);
	CHECK_UINT(table.schema.column_count, 1);
	add_values(row, 6, 1);
	read_at(&table, NULL, S(1));
	CHECK_UINT(row->tail, 7);
	table_done(&table);
}

/* The next owner of a slot starts from zero. */
static void test_slots(void)
{
	struct slots_fixture f;
	struct timed_row *slot;

	slots_fixture_init(&f);
	table_done(&f.table);
	slot = make_table(&f.table, SLOTS, SUBJECT_SERVICE);
	row_table_slots(&f.table, f.via, f.owners);
	CASE("a free slot");
	slot[1].tail = 99;
	read_slots(&f, S(1));
	CHECK_UINT(slot[1].tail, 99);
	CASE("its owner");
	give_slot(&f, DB, 1);
	add_values(&slot[1], 4, 1);
	read_slots(&f, S(2));
	CHECK_UINT(slot[1].tail, 5);
	CASE("no row of its own");
	add_values(slot, 3, 1);
	read_slots(&f, S(3));
	CHECK_UINT(slot[0].tail, 4);
	CASE("the owner exits");
	add_values(&slot[1], 9, 1);
	set_state(&f.services, DB, ROW_RETIRED);
	read_slots(&f, S(4));
	CHECK_UINT(f.owners[1], 0);
	CHECK_UINT(slot[1].tail, 0);
	CASE("the next one");
	give_slot(&f, WEB, 1);
	add_values(&slot[1], 2, 1);
	read_slots(&f, S(5));
	CHECK_UINT(slot[1].tail, 3);
	slots_fixture_done(&f);
}

static const struct {
	const char *name;
	uint32_t size;
	const char *want;
	struct row_member members[3];
} mistakes[] = {
	{ "a tail of an integer",
	  16,
	  "map rows, member a: tail and least are for a struct hist",
	  { MEMBER("a", U64, 0, "gauge tail=b"), MEMBER("b", U64, 8, NULL) } },
	{ "a tail in what is not there",
	  HIST_SIZE,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b") } },
	{ "a tail in 32 bits",
	  HIST_SIZE + 8,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", U32, HIST_SIZE, NULL) } },
	{ "a tail in a double",
	  HIST_SIZE + 8,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", DOUBLE, HIST_SIZE, NULL) } },
	{ "a tail in nothing",
	  HIST_SIZE + 8,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", MISSING, HIST_SIZE, NULL) } },
	{ "a tail in bits",
	  HIST_SIZE + 8,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), BITS("b", U64, HIST_SIZE, NULL, 0, 63) } },
	{ "a tail between words",
	  HIST_SIZE + 16,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", U64, HIST_SIZE + 4, NULL) } },
	{ "a tail outside",
	  HIST_SIZE,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", U64, HIST_SIZE, NULL) } },
	{ "a tail in a metric",
	  HIST_SIZE + 8,
	  WANT("a", "b"),
	  { MEMBER("a", HIST, 0, "latency tail=b"), MEMBER("b", U64, HIST_SIZE, "gauge") } },
	{ "a tail in itself",
	  HIST_SIZE,
	  WANT("a", "a"),
	  { MEMBER("a", HIST, 0, "latency tail=a") } },
	{ "two tails in one",
	  2 * HIST_SIZE + 8,
	  WANT("c", "b"),
	  { MEMBER("a", HIST, 0, "latency-a tail=b"), MEMBER("b", U64, 2 * HIST_SIZE, NULL),
	    MEMBER("c", HIST, HIST_SIZE, "latency-c tail=b") } },
};

static void test_mistakes(void)
{
	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		struct error error = { "" };
		struct schema schema;
		size_t count = 0;
		struct btf *btf;
		uint32_t row;

		CASE("%s", mistakes[i].name);
		while (count < 3 && mistakes[i].members[count].name)
			count++;
		btf = row_btf(mistakes[i].members, count, mistakes[i].size, false, &row);
		CHECK_INT(schema_read(&schema, btf, "rows", row, dispatch_type, &error), -EINVAL);
		CHECK_TEXT(error.text, mistakes[i].want);
		schema_done(&schema);
		btf__free(btf);
	}
}

/* Percentiles need an array that the engine can write; each other kind of map is refused. */
static void test_maps(void)
{
	static const struct {
		const char *map;
		int status;
	} cases[] = {
		{ "tail_fine", 1 },
		{ "tail_percpu", -EINVAL },
		{ "tail_hash", -EINVAL },
	};
	struct bpf_object *object =
		bpf_object__open_file(testing_built("tests/bpf/tail_mistakes.bpf.o"), NULL);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, cases[i].map);
		struct row_counts counts = { .shards = 1 };
		struct error error = { "" };
		struct table table;
		char want[256] = "";

		CASE("%s", cases[i].map);
		if (cases[i].status < 0)
			snprintf(want, sizeof(want),
				 "map %s: tail= is written into its rows, which needs an array "
				 "with BPF_F_MMAPABLE; declare it by MMAP_ARRAY, or leave the "
				 "word out",
				 cases[i].map);
		CHECK_INT(table_open(&table, map, bpf_object__btf(object), NULL, dispatch_type,
				     NULL, &error),
			  cases[i].status);
		CHECK_TEXT(error.text, want);
		if (cases[i].status == 1) {
			CHECK_INT(table_resize(&table, &counts, object, &error), 0);
			CHECK_INT(table.rows.is_written, true);
			CHECK_INT(table_memory(&table) > HIST_SIZE, true);
		}
		table_done(&table);
	}
	bpf_object__close(object);
}

int main(void)
{
	libbpf_set_print(NULL);
	test_values();
	test_shards();
	test_catch_up();
	test_start();
	test_not_collected();
	test_slots();
	test_mistakes();
	test_maps();
	return testing_end();
}
