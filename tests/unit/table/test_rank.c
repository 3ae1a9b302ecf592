/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a service have series: those that grew most.
 */
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/table.h"

/* Only those of a group that grew most are dispatched. */
static void test_rank(void)
{
	static const struct row_member members[] = {
		MEMBER("a", U64, 0, "derive"),
		MEMBER("b", U64, 8, "gauge-b"),
		MEMBER("c", U64, 16, "gauge-c rate rank"),
	};
	static const struct {
		const char *name;
		unsigned group[ROWS], top_n[ROWS];
		uint64_t grown[ROWS];
		bool want[ROWS];
	} cases[] = {
		{ "the two that grew most",
		  { 2, 2, 2, 2, 2, 2 },
		  { 2, 2, 2, 2, 2, 2 },
		  { 0, 5, 9, 3, 7, 1 },
		  { 0, 0, 1, 0, 1, 0 } },
		{ "of each group",
		  { 2, 2, 2, 3, 3, 3 },
		  { 1, 1, 1, 2, 2, 2 },
		  { 0, 5, 9, 3, 7, 1 },
		  { 0, 0, 1, 1, 1, 0 } },
		{ "groups mixed",
		  { 0, 3, 2, 3, 2, 3 },
		  { 1, 1, 1, 1, 1, 1 },
		  { 0, 5, 9, 3, 7, 6 },
		  { 0, 0, 1, 0, 0, 1 } },
		{ "more than there are",
		  { 2, 2, 2, 2, 2, 2 },
		  { 9, 9, 9, 9, 9, 9 },
		  { 0, 0, 0, 0, 0, 0 },
		  { 0, 1, 1, 1, 1, 1 } },
		{ "equal: the first",
		  { 2, 2, 2, 2, 2, 2 },
		  { 3, 3, 3, 3, 3, 3 },
		  { 0, 4, 4, 4, 4, 4 },
		  { 0, 1, 1, 1, 0, 0 } },
		{ "no ranking",
		  { 2, 2, 2, 2, 2, 2 },
		  { 0, 0, 0, 0, 0, 0 },
		  { 0, 1, 2, 3, 4, 5 },
		  { 0, 1, 1, 1, 1, 1 } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fake_snapshot f;
		struct table table;
		uint64_t *rows;

		snapshot_of_six(&f);
		rows = row_table(&table, members, 3, 24, ROWS, SUBJECT_PROCESS);
		for (uint32_t process = 1; process < ROWS; process++) {
			char name[32];

			snprintf(name, sizeof(name), "web-%u", process);
			show_ranked_process(&f, process, name, cases[i].group[process],
					    cases[i].top_n[process]);
			rows[3 * process] = 100 - cases[i].grown[process];
			rows[3 * process + 1] = 100 - cases[i].grown[process];
			rows[3 * process + 2] = cases[i].grown[process];
		}
		read_at(&table, &f.snapshot, S(1));
		for (uint32_t process = 1; process < ROWS; process++) {
			CASE("rank, %s: process %u", cases[i].name, process);
			CHECK_INT(fed(&table, subject_of_process(&f, process)),
				  cases[i].want[process]);
		}
		CASE("rank, %s: others", cases[i].name);
		CHECK_INT(fed(&table, subject_of_row(&f, SERVICE_OTHER)), false);
		table_done(&table);
		snapshot_done(&f);
	}
}

/* The member with the word rank decides between two processes: by its growth, or by its value if
 * it is a gauge, at any position in the row. */
static void test_rank_word(void)
{
	static const struct {
		const char *name;
		struct row_member members[2];
		uint64_t first[2], second[2]; /* by member, for two processes */
		bool want_second;
	} cases[] = {
		{ "a counter behind another",
		  { MEMBER("a", U64, 0, "derive-a"), MEMBER("b", U64, 8, "derive-b rank") },
		  { 9, 1 },
		  { 8, 2 },
		  true },
		{ "a counter before a rate",
		  { MEMBER("a", U64, 0, "derive-a rank"), MEMBER("b", U64, 8, "gauge-b rate") },
		  { 9, 1 },
		  { 8, 2 },
		  false },
		{ "a counter behind a histogram",
		  { MEMBER("a", HIST, 8, "latency"), MEMBER("b", U64, 0, "derive-b rank") },
		  { 1, 9 },
		  { 2, 8 },
		  true },
		{ "a gauge",
		  { MEMBER("a", U64, 0, "derive-a"), MEMBER("b", U64, 8, "gauge rank") },
		  { 9, 1 },
		  { 8, 2 },
		  true },
		{ "a gauge with a sign",
		  { MEMBER("a", U64, 0, "derive-a"), MEMBER("b", S64, 8, "gauge rank") },
		  { 9, (uint64_t)-1 },
		  { 8, 2 },
		  true },
		{ "a gauge without one",
		  { MEMBER("a", U64, 0, "derive-a"), MEMBER("b", U64, 8, "gauge rank") },
		  { 9, (uint64_t)-1 },
		  { 8, 2 },
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const size_t size = HIST_SIZE + 8;
		struct fake_snapshot f;
		struct table table;
		char *rows;

		CASE("rank by %s", cases[i].name);
		snapshot_of_six(&f);
		rows = row_table(&table, cases[i].members, 2, size, ROWS, SUBJECT_PROCESS);
		show_ranked_process(&f, 1, "web-1", 2, 1);
		show_ranked_process(&f, 2, "web-2", 2, 1);
		memcpy(rows + size, cases[i].first, 16);
		memcpy(rows + 2 * size, cases[i].second, 16);
		read_at(&table, &f.snapshot, S(1));
		CHECK_INT(fed(&table, subject_of_process(&f, 1)), !cases[i].want_second);
		CHECK_INT(fed(&table, subject_of_process(&f, 2)), cases[i].want_second);
		table_done(&table);
		snapshot_done(&f);
	}
}

int main(void)
{
	test_rank();
	test_rank_word();
	return testing_end();
}
