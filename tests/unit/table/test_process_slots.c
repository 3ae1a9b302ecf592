/* SPDX-License-Identifier: MIT */
/*
 * Rows that processes get on first use. The kernel's side is played by hand.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/slots.h"

#include <stdio.h>

/* The first row of processes is nobody's. */
static void fixture_init_processes(struct fixture *f, struct process_row *processes)
{
	fixture_init(f);
	f->table.schema.subject.kind = SUBJECT_PROCESS;
	f->snapshot.process_rows = processes;
	f->snapshot.process_row_count = SERVICES;
	for (uint32_t row = 0; row < SERVICES; row++)
		processes[row] = (struct process_row){ .subject = -1 };
}

static void start_process(struct fixture *f, uint32_t row, const char *name)
{
	f->snapshot.process_rows[row] = (struct process_row){
		.subject = subjects_enter(&f->snapshot.subjects, SUBJECT_PROCESS, name),
		.start_ns = S(1),
	};
}

static void check_process(const struct fixture *f, const char *name, uint64_t window,
			  uint64_t total)
{
	size_t i = 0;

	while (strcmp(f->snapshot.subjects.subject[i].name, name) != 0)
		i++;
	CHECK_INT(i < f->table.accumulators.count && f->table.accumulators.accumulator[i].fed, 1);
	CHECK_UINT(f->table.accumulators.accumulator[i].window[0], window);
	CHECK_UINT(f->table.accumulators.accumulator[i].total[0], total);
}

static size_t count_fed(const struct fixture *f)
{
	size_t fed = 0;

	for (size_t i = 0; i < f->table.accumulators.count; i++)
		fed += f->table.accumulators.accumulator[i].fed;
	return fed;
}

static void test_processes(void)
{
	struct process_row processes[SERVICES];
	struct fixture f;

	fixture_init_processes(&f, processes);
	CASE("no slot, no series");
	start_process(&f, 1, "web-1-1");
	read_at(&f.table, &f.snapshot, S(1));
	CHECK_UINT(count_fed(&f), 0);
	CASE("nobody's slot is not read");
	count(&f, 0, 7);
	give_slot(&f, 1, 2);
	count(&f, 2, 100);
	read_at(&f.table, &f.snapshot, S(2));
	check_process(&f, "web-1-1", 101, 101);
	CHECK_UINT(count_fed(&f), 1);
	CASE("one that the engine does not know yet");
	give_slot(&f, 2, 1);
	count(&f, 1, 30);
	read_at(&f.table, &f.snapshot, S(3));
	CHECK_UINT(count_fed(&f), 1);
	start_process(&f, 2, "web-2-1");
	read_at(&f.table, &f.snapshot, S(4));
	check_process(&f, "web-2-1", 31, 31);
	CASE("it has ended: its last values are its own");
	processes[1].ended_ns = S(4);
	count(&f, 2, 4);
	read_at(&f.table, &f.snapshot, S(5));
	check_process(&f, "web-1-1", 5, 106);
	CHECK_UINT(f.via[1], 0);
	CHECK_UINT(f.owners[2], 0);
	CHECK_UINT(f.owners[0], 1);
	CASE("it takes no memory, though its name is still known");
	CHECK_UINT(f.table.accumulators.held, 2);
	read_at(&f.table, &f.snapshot, S(6));
	CHECK_UINT(f.table.accumulators.held, 1);
	CASE("another process of its row, and another that has its slot");
	start_process(&f, 1, "web-1-9");
	start_process(&f, 3, "web-3-9");
	give_slot(&f, 3, 2);
	count(&f, 2, 8);
	read_at(&f.table, &f.snapshot, S(7));
	check_process(&f, "web-3-9", 9, 9);
	CHECK_UINT(count_fed(&f), 2);
	CASE("one that was refused a slot and has ended");
	f.via[1] = 1U << 31;
	read_at(&f.table, &f.snapshot, S(8));
	CHECK_UINT(f.via[1], 1U << 31);
	processes[1].ended_ns = S(8);
	read_at(&f.table, &f.snapshot, S(9));
	CHECK_UINT(f.via[1], 0);
	fixture_done(&f);
}

/* Between two readings more have had slots, one after the other, than there is memory for. */
static void test_many_processes(void)
{
	struct process_row processes[SERVICES];
	struct fixture f;
	struct error error;
	char name[32];

	CASE("many short processes in one reading");
	fixture_init_processes(&f, processes);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "web-%u-1", i);
		start_process(&f, 1, name);
		processes[1].ended_ns = S(1);
		give_slot(&f, 1, 1);
		count(&f, 1, 1);
		CHECK_INT(table_catch_up(&f.table, &f.snapshot, S(1), &error), 0);
	}
	read_at(&f.table, &f.snapshot, S(2));
	CHECK_UINT(f.table.accumulators.held, 4 * SLOTS);
	CHECK_UINT(f.table.refused, 20 - 4 * SLOTS);
	check_process(&f, "web-0-1", 2, 2);
	CASE("they are told, and there is room again");
	read_at(&f.table, &f.snapshot, S(3));
	CHECK_UINT(f.table.accumulators.held, 0);
	start_process(&f, 1, "web-99-1");
	give_slot(&f, 1, 1);
	count(&f, 1, 1);
	read_at(&f.table, &f.snapshot, S(4));
	check_process(&f, "web-99-1", 2, 2);
	CHECK_UINT(f.table.refused, 20 - 4 * SLOTS);
	fixture_done(&f);
}

int main(void)
{
	test_processes();
	test_many_processes();
	return testing_end();
}
