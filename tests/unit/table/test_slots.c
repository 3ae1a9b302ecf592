/* SPDX-License-Identifier: MIT */
/*
 * Slots that the engine grants to services: which services may have one, and which one gives its
 * slot back. The kernel's side is played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/table.h"

#include "bpf/lib/services/slot.h"
#include "plugin/config/config.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/table/slots.h"

#include <bpf/libbpf.h>

/* Slot 1 is for the service of the block, 2 for units and containers, 3 and 4 for any name. */
#define ALL 5
#define WEB SERVICE_FIRST
#define UNIT (SERVICE_FIRST + 1)
#define ONE (SERVICE_FIRST + 2)
#define TWO (SERVICE_FIRST + 3)
#define LATER (SERVICE_FIRST + 4)
#undef ROWS
#define ROWS (SERVICE_FIRST + 5)

struct grants {
	struct fake_snapshot services;
	uint64_t via[ROWS], owners[ALL];
	struct table table;
	uint64_t *cells;
	uint64_t now_s;
};

static void show_group(struct grants *g, uint32_t row, const char *name, bool user_controlled)
{
	show_row(&g->services, row, SUBJECT_SERVICE, name);
	set_user_controlled(&g->services, row, user_controlled);
}

static void grants_init(struct grants *g)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct error error;

	*g = (struct grants){ .now_s = 1 };
	snapshot_init(&g->services, ROWS, 0);
	show_configured(&g->services, SERVICE_KERNEL, "kernel");
	show_configured(&g->services, SERVICE_OTHER, "other");
	show_configured(&g->services, WEB, "web");
	for (uint32_t row = UNIT; row < ROWS; row++)
		reset_row(&g->services, row, ROW_HIDDEN);
	g->cells = row_table(&g->table, &member, 1, 8, ALL, SUBJECT_SERVICE);
	row_table_slots(&g->table, g->via, g->owners);
	row_table_grants(&g->table, 2, 3);
	CHECK_INT(slots_start(&g->table, &error), 0);
}

static void grants_done(struct grants *g)
{
	table_done(&g->table);
	snapshot_done(&g->services);
}

/* Reads once a second; between readings the owner of each slot counts as many as `rates` says. */
static void read_on(struct grants *g, unsigned readings, const uint64_t rates[ALL])
{
	for (unsigned i = 0; i < readings; i++) {
		for (uint32_t slot = 0; slot < ALL && rates; slot++)
			g->cells[slot] += rates[slot];
		read_at(&g->table, &g->services.snapshot, S(g->now_s++));
	}
}

/* As the kernel does at the first event of a service with a grant. */
static void give_grant(struct grants *g, uint32_t row, uint32_t slot)
{
	CHECK_INT(g->via[row] & SLOT_NONE || row == WEB, 1);
	CHECK_UINT(g->owners[slot], 0);
	g->owners[slot] = row + 1;
	g->via[row] = slot;
}

static void refuse(struct grants *g, uint32_t row)
{
	CHECK_INT((g->via[row] & SLOT_NONE) != 0, 1);
	g->via[row] |= SLOT_REFUSED | g->owners[0];
}

static uint64_t total_of(const struct grants *g, uint32_t row)
{
	size_t subject = subject_of_row(&g->services, row);

	return has_cells(&g->table, subject) ? total(&g->table, subject, 0) : 0;
}

/* A name without series gets no grant; with series, it gets one for the slots that its kind may
 * have. */
static void test_grant(void)
{
	static const struct {
		const char *what;
		uint32_t row;
		bool user_controlled;
		uint64_t want;
	} cases[] = {
		{ "unit", UNIT, false, SLOT_NONE | SLOT_GROUP },
		{ "command", ONE, true, SLOT_NONE },
	};
	struct grants g;

	grants_init(&g);
	CASE("hidden, and a service of a block");
	read_on(&g, 1, NULL);
	for (uint32_t row = WEB; row < ROWS; row++)
		CHECK_UINT(g.via[row], 0);
	CASE("kernel threads");
	CHECK_UINT(g.via[SERVICE_KERNEL], SLOT_NONE | SLOT_GROUP);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t retries = g.owners[0];

		CASE("%s with series", cases[i].what);
		show_group(&g, cases[i].row, cases[i].what, cases[i].user_controlled);
		read_on(&g, 1, NULL);
		CHECK_UINT(g.via[cases[i].row], cases[i].want);
		CASE("%s: services without a slot ask again, once", cases[i].what);
		CHECK_UINT(g.owners[0], retries + 1);
		read_on(&g, 1, NULL);
		CHECK_UINT(g.owners[0], retries + 1);
	}
	CASE("exited without a slot");
	set_state(&g.services, ONE, ROW_RETIRED);
	read_on(&g, 1, NULL);
	CHECK_UINT(g.via[ONE], 0);
	grants_done(&g);
}

/* A unit or container that may belong to a Service block, before its name is known. */
static void test_early(void)
{
	struct grants g;

	CASE("may be of a block");
	grants_init(&g);
	set_early_rows(&g.services, 1);
	set_state(&g.services, LATER, ROW_FREE);
	read_on(&g, 2, NULL);
	CHECK_UINT(g.via[LATER], SLOT_NONE | SLOT_GROUP);
	CHECK_UINT(g.via[TWO], 0);
	CHECK_UINT(g.owners[0], 1);
	CASE("deferred, its counts wait");
	give_grant(&g, LATER, 2);
	defer_row(&g.services, LATER);
	g.cells[2] += 5;
	read_on(&g, 1, NULL);
	CHECK_UINT(total_of(&g, SERVICE_OTHER), 0);
	CASE("it is of a block");
	join_rows(&g.services, LATER, WEB);
	read_on(&g, 1, NULL);
	CHECK_UINT(total_of(&g, WEB), 5);
	CASE("exited, and free again");
	reset_row(&g.services, LATER, ROW_RETIRED);
	read_on(&g, 2, NULL);
	CHECK_UINT(g.via[LATER], 0);
	set_state(&g.services, LATER, ROW_FREE);
	read_on(&g, 1, NULL);
	CHECK_UINT(g.via[LATER], SLOT_NONE | SLOT_GROUP);
	grants_done(&g);
}

/* All slots have owners, and names that users control have counted nothing for long. */
static void fill(struct grants *g, const uint64_t rates[ALL])
{
	grants_init(g);
	show_group(g, UNIT, "unit", false);
	show_group(g, ONE, "one", true);
	show_group(g, TWO, "two", true);
	show_group(g, LATER, "later", true);
	read_on(g, 1, NULL);
	give_grant(g, WEB, 1);
	give_grant(g, UNIT, 2);
	give_grant(g, ONE, 3);
	give_grant(g, TWO, 4);
	read_on(g, SLOT_OLD_READINGS - 1, rates);
}

/* The service that counts least gives its slot back without a loss; one that counts enough keeps
 * it. */
static void test_given_back(void)
{
	static const uint64_t idle[ALL] = { 0 };
	uint64_t rates[ALL] = { 0, 0, 0, 5, 0 };
	struct grants g;

	fill(&g, rates);
	CASE("no service waits");
	read_on(&g, 5, rates);
	CHECK_UINT(g.table.slots.returned, 0);
	CASE("one service waits");
	g.cells[4] += 3;
	refuse(&g, LATER);
	read_on(&g, 1, rates);
	CHECK_UINT(g.table.slots.returned, 1);
	CHECK_UINT(g.table.slots.unassigned, 1);
	CHECK_UINT(g.via[TWO], SLOT_NONE);
	CHECK_UINT(g.owners[4], SLOT_CLOSED | (TWO + 1));
	CASE("what is counted until it is free is its own");
	g.cells[4] += 7;
	read_on(&g, 1, rates);
	CHECK_UINT(total_of(&g, TWO), 10);
	CHECK_UINT(g.owners[4], 0);
	CASE("counts of the next owner are its own");
	give_grant(&g, LATER, 4);
	rates[4] = 100;
	read_on(&g, 2, rates);
	CHECK_UINT(total_of(&g, LATER), 200);
	CHECK_UINT(total_of(&g, TWO), 10);
	CHECK_UINT(g.table.slots.unassigned, 0);
	CASE("all others count enough, or have slots of their kind");
	refuse(&g, TWO);
	read_on(&g, 2 * SLOT_OLD_READINGS, rates);
	CHECK_UINT(g.table.slots.returned, 1);
	CHECK_UINT(g.owners[1], WEB + 1);
	CHECK_UINT(g.owners[2], UNIT + 1);
	CASE("a slot whose owner is idle by now");
	read_on(&g, 20 * SLOT_OLD_READINGS, idle);
	CHECK_UINT(g.table.slots.returned, 2);
	grants_done(&g);
}

/* A service that waits gets no slot from one of higher priority. */
static void test_who_gives(void)
{
	static const struct {
		const char *what;
		bool user_controlled; /* of the service that waits */
		uint64_t rates[ALL];
		uint32_t want; /* the slot that is closed, 0: none */
		bool unit;     /* a unit has slot 4 */
	} cases[] = {
		{ "a command waits, another is idle", true, { 0, 0, 0, 5, 0 }, 4, false },
		{ "a command waits, one is more idle", true, { 0, 0, 0, 0, 0 }, 3, false },
		{ "a command waits, a unit is idle", true, { 0, 0, 0, 1, 1 }, 0, false },
		{ "a unit waits, a unit and a command are idle",
		  false,
		  { 0, 0, 0, 5, 0 },
		  4,
		  false },
		{ "a unit waits, another has one for any name", false, { 0, 0, 0, 0, 0 }, 3, true },
		{ "a command waits, a unit has one for any name",
		  true,
		  { 0, 0, 0, 5, 0 },
		  0,
		  true },
		{ "a unit waits, a unit is idle", false, { 0, 0, 0, 1, 1 }, 2, false },
		{ "a unit waits, the service of a block is idle",
		  false,
		  { 0, 0, 1, 1, 1 },
		  0,
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct grants g;

		CASE("%s", cases[i].what);
		fill(&g, cases[i].rates);
		set_user_controlled(&g.services, LATER, cases[i].user_controlled);
		set_user_controlled(&g.services, TWO, !cases[i].unit);
		refuse(&g, LATER);
		read_on(&g, 1, cases[i].rates);
		for (uint32_t slot = 1; slot < ALL; slot++)
			CHECK_INT((g.owners[slot] & SLOT_CLOSED) != 0, slot == cases[i].want);
		CHECK_UINT(g.table.slots.returned, cases[i].want != 0);
		grants_done(&g);
	}
}

/* A slot is not taken back before it is old, nor while another one is free. */
static void test_minimum_age(void)
{
	struct grants g;

	fill(&g, NULL);
	refuse(&g, LATER);
	set_state(&g.services, ONE, ROW_RETIRED);
	CASE("one is free");
	read_on(&g, 2 * SLOT_OLD_READINGS, NULL);
	CHECK_UINT(g.table.slots.returned, 0);
	CASE("its next owner has it for a while");
	set_state(&g.services, ONE, ROW_SHOWN);
	read_on(&g, 1, NULL);
	give_grant(&g, ONE, 3);
	g.cells[4] += 1000000;
	read_on(&g, SLOT_OLD_READINGS - 1, NULL);
	CHECK_UINT(g.table.slots.returned, 0);
	read_on(&g, 1, NULL);
	CHECK_UINT(g.owners[3], SLOT_CLOSED | (ONE + 1));
	CASE("it ends before that is free");
	g.cells[3] += 4;
	reset_row(&g.services, ONE, ROW_RETIRED);
	read_on(&g, 1, NULL);
	CHECK_UINT(g.owners[3], 0);
	CHECK_UINT(total_of(&g, SERVICE_OTHER), 4);
	grants_done(&g);
}

/* A reading that only catches up takes no slot back, but frees closed ones. */
static void test_catch_up(void)
{
	struct grants g;
	struct error error;

	CASE("catching up");
	fill(&g, NULL);
	refuse(&g, LATER);
	CHECK_INT(table_catch_up(&g.table, &g.services.snapshot, S(g.now_s), &error), 0);
	CHECK_UINT(g.table.slots.returned, 0);
	read_on(&g, 1, NULL);
	CHECK_UINT(g.table.slots.returned, 1);
	g.cells[3] += 2;
	CHECK_INT(table_catch_up(&g.table, &g.services.snapshot, S(g.now_s), &error), 0);
	CHECK_UINT(g.owners[3], 0);
	read_on(&g, 1, NULL);
	CHECK_UINT(total_of(&g, ONE), 2);
	grants_done(&g);
}

int main(void)
{
	test_grant();
	test_early();
	test_given_back();
	test_who_gives();
	test_minimum_age();
	test_catch_up();
	return testing_end();
}
