/* SPDX-License-Identifier: MIT */
/*
 * From the cells of a row to their growth.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/row.h"
#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/table.h"

#include "bpf/lib/hist.h"

/* Integers of each size: counters wrap at their size, gauges have their sign. */
static void test_integers(void)
{
	static const struct {
		struct row_member member;
		uint64_t before, now, window, total; /* of the second reading */
	} cases[] = {
		{ MEMBER("a", U8, 0, "derive"), 10, 250, 240, 250 },
		{ MEMBER("a", U8, 0, "derive"), 250, 4, 10, 260 },
		{ MEMBER("a", U16, 0, "derive"), 65530, 5, 11, 65541 },
		{ MEMBER("a", U32, 0, "derive"), UINT32_MAX, 0, 1, 1ULL << 32 },
		{ MEMBER("a", S32, 0, "derive"), INT32_MAX, 1ULL << 31, 1, 1ULL << 31 },
		{ MEMBER("a", U64, 0, "derive"), UINT64_MAX - 1, 3, 5, 3 },
		{ MEMBER("a", U64, 0, "derive"), 7, 7, 0, 7 },
		{ MEMBER("a", S64, 0, "derive"), 7, (uint64_t)-2, 0, 7 },
		{ MEMBER("a", U32, 0, "counter"), UINT32_MAX, 9, 10, (1ULL << 32) + 9 },
		{ MEMBER("a", U32, 0, "gauge rate"), UINT32_MAX - 4, 5, 10, (1ULL << 32) + 5 },
		{ MEMBER("a", U8, 0, "gauge"), 1, 255, 255, 0 },
		{ MEMBER("a", S8, 0, "gauge"), 1, 255, (uint64_t)-1, 0 },
		{ MEMBER("a", S16, 0, "gauge"), 1, 0x8000, (uint64_t)-32768, 0 },
		{ MEMBER("a", U16, 0, "gauge"), 1, 0x8000, 0x8000, 0 },
		{ MEMBER("a", S32, 0, "gauge"), 1, 0xfffffff6, (uint64_t)-10, 0 },
		{ MEMBER("a", U32, 0, "gauge"), 1, 0xfffffff6, 0xfffffff6, 0 },
		{ MEMBER("a", S64, 0, "gauge"), 1, (uint64_t)-10, (uint64_t)-10, 0 },
		{ MEMBER("a", ENUM, 0, "gauge"), 1, 2, 2, 0 },
		{ MEMBER("a", BOOL, 0, "gauge"), 0, 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct table table;
		uint64_t *row = row_table(&table, &cases[i].member, 1, 8, 1, SUBJECT_PROBE);

		CASE("integers %zu: %s", i, cases[i].member.tag);
		*row = cases[i].before;
		read_at(&table, NULL, S(100));
		*row = cases[i].now;
		read_at(&table, NULL, S(110));
		CHECK_UINT(window(&table, 0, 0), cases[i].window);
		CHECK_UINT(total(&table, 0, 0), cases[i].total);
		table_done(&table);
	}
}

/* Replicas: several rows of one subject. */
static void test_several_rows(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "gauge-a"),
		MEMBER("b", U64, 8, "gauge-b highest"),
		MEMBER("c", U64, 16, "gauge-c highest of=d"),
		MEMBER("d", U64, 24, "gauge-d"),
	};
	/* A row is 32 bytes. */
	static const uint64_t cells[] = { 3, 9, 60, 100, 4, 7, 80, 100 };
	static const uint64_t want[] = { 7, 9, 80, 200, 100 };
	struct fake_snapshot s;
	struct table table;
	uint64_t *rows = row_table(&table, members, COUNT_OF(members), 32, ROWS, SUBJECT_SERVICE);

	CASE("two rows of one subject");
	snapshot_of_six(&s);
	show_row(&s, 4, SUBJECT_CONTAINER, "web");
	join_rows(&s, 5, 4);
	memcpy(rows + 4 * 4, cells, sizeof(cells));
	read_at(&table, &s.snapshot, S(100));
	for (uint32_t i = 0; i < COUNT_OF(want); i++)
		CHECK_UINT(window(&table, subject_of_row(&s, 4), i), want[i]);
	table_done(&table);
	snapshot_done(&s);
}

/* A small member is read without its neighbours. */
static void test_neighbours(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U8, 0, "gauge-a"),
		MEMBER("b", U8, 1, "gauge-b"),
		MEMBER("c", U16, 2, "gauge-c"),
		MEMBER("d", U32, 4, "gauge-d"),
	};
	static const uint64_t want[] = { 0x88, 0x77, 0x5566, 0x11223344 };
	struct table table;
	uint64_t *row = row_table(&table, members, COUNT_OF(members), 8, 1, SUBJECT_PROBE);

	CASE("neighbours");
	*row = 0x1122334455667788;
	read_at(&table, NULL, S(1));
	for (uint32_t i = 0; i < COUNT_OF(want); i++)
		CHECK_UINT(window(&table, 0, i), want[i]);
	table_done(&table);
}

/* Each cell of moments and histograms is a counter. */
static void test_cells(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", MOMENTS, 8, "latency"),
	};
	struct table table;
	uint64_t *row = row_table(&table, members, COUNT_OF(members), 48, 1, SUBJECT_PROBE);

	CASE("cells");
	read_at(&table, NULL, S(1));
	for (uint64_t i = 0; i < 6; i++)
		row[i] = 100 + i;
	read_at(&table, NULL, S(2));
	for (uint64_t i = 0; i < 6; i++)
		row[i] += 10 * i;
	row[3] = 2; /* wrapped */
	read_at(&table, NULL, S(3));
	for (uint32_t i = 0; i < 6; i++)
		CHECK_UINT(window(&table, 0, i), i == 3 ? (uint64_t)2 - 103 : 10 * i);
	table_done(&table);
}

/* A sample that moves to another bucket is counted in both, as it was in both at a reading; the
 * next sample in the bucket that it left is not counted. Sums stay right. */
static void test_moving(void)
{
	static const struct row_member member = MEMBER("a", HIST, 0, "latency");
	static const struct {
		uint64_t now[2], window[2], total[2];
	} readings[] = {
		{ { 10, 1 }, { 10, 1 }, { 10, 1 } }, { { 8, 3 }, { 0, 2 }, { 10, 3 } },
		{ { 9, 3 }, { 0, 0 }, { 10, 3 } },   { { 10, 3 }, { 0, 0 }, { 10, 3 } },
		{ { 12, 4 }, { 2, 1 }, { 12, 4 } },  { { 0, 0 }, { 0, 0 }, { 12, 4 } },
		{ { 13, 5 }, { 1, 1 }, { 13, 5 } },
	};
	struct table table;
	uint64_t *row = row_table(&table, &member, 1, HIST_SIZE, 1, SUBJECT_PROBE);

	for (size_t i = 0; i < COUNT_OF(readings); i++) {
		CASE("moving samples, reading %zu", i);
		memcpy(row + 50, readings[i].now, sizeof(readings[i].now));
		read_at(&table, NULL, S(1 + i));
		for (uint32_t k = 0; k < 2; k++) {
			CHECK_UINT(window(&table, 0, 50 + k), readings[i].window[k]);
			CHECK_UINT(total(&table, 0, 50 + k), readings[i].total[k]);
		}
	}
	table_done(&table);
}

/* A 64-bit counter that is reset does not decrease in what is dispatched. */
static void test_falling(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	static const struct {
		uint64_t now, window, total;
	} readings[] = {
		{ 100, 100, 100 }, { 90, 0, 100 },
		{ 95, 5, 105 },    { 0, 0, 105 },
		{ 10, 10, 115 },   { 1ULL << 62, (1ULL << 62) - 10, (1ULL << 62) + 105 },
	};
	struct table table;
	uint64_t *row = row_table(&table, &member, 1, 8, 1, SUBJECT_PROBE);

	for (size_t i = 0; i < COUNT_OF(readings); i++) {
		CASE("a counter that falls, reading %zu", i);
		*row = readings[i].now;
		read_at(&table, NULL, S(1 + i));
		CHECK_UINT(window(&table, 0, 0), readings[i].window);
		CHECK_UINT(total(&table, 0, 0), readings[i].total);
	}
	table_done(&table);
}

/* The first reading has no elapsed time; a gap counts with its whole length. */
static void test_elapsed(void)
{
	static const struct row_member member = MEMBER("a", U64, 0, "gauge rate");
	static const uint64_t times[] = { S(5), S(15), S(15) + 1, S(3600) };
	static const uint64_t want[] = { 0, S(10), 1, S(3585) - 1 };
	struct table table;

	row_table(&table, &member, 1, 8, 1, SUBJECT_PROBE);
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		CASE("elapsed %zu", i);
		read_at(&table, NULL, times[i]);
		CHECK_UINT(table.elapsed_ns, want[i]);
	}
	table_done(&table);
}

/* Rows are one stride apart, and each is a subject. */
static void test_rows_of_probe(void)
{
	static const struct row_member member = MEMBER("a", U32, 0, "derive");
	struct table table;
	unsigned char *rows = row_table(&table, &member, 1, 12, 3, SUBJECT_PROBE);

	CASE("rows of the probe");
	for (uint32_t i = 0; i < 3; i++)
		rows[16 * i] = (unsigned char)(i + 1);
	read_at(&table, NULL, S(1));
	CHECK_UINT(table.accumulators.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_UINT(total(&table, i, 0), i + 1);
	table_done(&table);
}

int main(void)
{
	test_integers();
	test_several_rows();
	test_neighbours();
	test_cells();
	test_moving();
	test_falling();
	test_elapsed();
	test_rows_of_probe();
	return testing_end();
}
