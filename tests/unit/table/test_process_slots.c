/* SPDX-License-Identifier: MIT */
/*
 * Rows that processes get on first use. The kernel's side is played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/slots.h"

#include <stdio.h>

/* A table of processes; the first row of processes has no owner. */
static void processes_init(struct slots_fixture *f)
{
	slots_fixture_init(f);
	row_table_subject(&f->table, SUBJECT_PROCESS);
}

static void start_process(struct slots_fixture *f, uint32_t row, const char *name)
{
	show_process(&f->services, row, name, S(1));
}

static void check_process(const struct slots_fixture *f, const char *name, uint64_t want_window,
			  uint64_t want_total)
{
	check_subject(f, subject_named(&f->services, name), want_window, want_total);
}

static size_t count_fed(const struct slots_fixture *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->table.accumulators.count; i++)
		count += fed(&f->table, i);
	return count;
}

static void test_processes(void)
{
	struct slots_fixture f;

	processes_init(&f);
	CASE("no slot, no series");
	start_process(&f, 1, "web-1-1");
	read_slots(&f, S(1));
	CHECK_UINT(count_fed(&f), 0);
	CASE("a slot without an owner is not read");
	count(&f, 0, 7);
	give_slot(&f, 1, 2);
	count(&f, 2, 100);
	read_slots(&f, S(2));
	check_process(&f, "web-1-1", 101, 101);
	CHECK_UINT(count_fed(&f), 1);
	CASE("one that the engine does not know yet");
	give_slot(&f, 2, 1);
	count(&f, 1, 30);
	read_slots(&f, S(3));
	CHECK_UINT(count_fed(&f), 1);
	start_process(&f, 2, "web-2-1");
	read_slots(&f, S(4));
	check_process(&f, "web-2-1", 31, 31);
	CASE("it has ended: its last values are its own");
	end_process(&f.services, 1, S(4));
	count(&f, 2, 4);
	read_slots(&f, S(5));
	check_process(&f, "web-1-1", 5, 106);
	CHECK_UINT(f.via[1], 0);
	CHECK_UINT(f.owners[2], 0);
	CHECK_UINT(f.owners[0], 1);
	CASE("it needs no memory, although its name still exists");
	CHECK_UINT(f.table.accumulators.allocated, 2);
	read_slots(&f, S(6));
	CHECK_UINT(f.table.accumulators.allocated, 1);
	CASE("another process of its row, and another that has its slot");
	start_process(&f, 1, "web-1-9");
	start_process(&f, 3, "web-3-9");
	give_slot(&f, 3, 2);
	count(&f, 2, 8);
	read_slots(&f, S(7));
	check_process(&f, "web-3-9", 9, 9);
	CHECK_UINT(count_fed(&f), 2);
	CASE("one that was refused a slot and has ended");
	f.via[1] = 1U << 31;
	read_slots(&f, S(8));
	CHECK_UINT(f.via[1], 1U << 31);
	end_process(&f.services, 1, S(8));
	read_slots(&f, S(9));
	CHECK_UINT(f.via[1], 0);
	slots_fixture_done(&f);
}

/* More short processes had slots between two readings than there are accumulators. */
static void test_many_processes(void)
{
	struct slots_fixture f;
	struct error error;
	char name[32];

	CASE("many short processes in one reading");
	processes_init(&f);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "web-%u-1", i);
		start_process(&f, 1, name);
		end_process(&f.services, 1, S(1));
		give_slot(&f, 1, 1);
		count(&f, 1, 1);
		CHECK_INT(table_catch_up(&f.table, &f.services.snapshot, S(1), &error), 0);
	}
	read_slots(&f, S(2));
	CHECK_UINT(f.table.accumulators.allocated, 4 * SLOTS);
	CHECK_UINT(f.table.refused, 20 - 4 * SLOTS);
	check_process(&f, "web-0-1", 2, 2);
	CASE("after they are dispatched there is room again");
	read_slots(&f, S(3));
	CHECK_UINT(f.table.accumulators.allocated, 0);
	start_process(&f, 1, "web-99-1");
	give_slot(&f, 1, 1);
	count(&f, 1, 1);
	read_slots(&f, S(4));
	check_process(&f, "web-99-1", 2, 2);
	CHECK_UINT(f.table.refused, 20 - 4 * SLOTS);
	slots_fixture_done(&f);
}

int main(void)
{
	test_processes();
	test_many_processes();
	return testing_end();
}
