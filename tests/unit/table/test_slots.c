/* SPDX-License-Identifier: MIT */
/*
 * Rows that services have by the engine's leave: who may have one, and who gives one back. The
 * kernel's side is played by hand.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/slots.h"

#include "bpf/lib/slot.h"
#include "plugin/config/config.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/table/slots.h"

#include <bpf/libbpf.h>

/* Slot 1 is that of the service of the block, 2 for units and containers, 3 and 4 anyone's. */
#define ALL 5
#define UNIT (SERVICE_FIRST + 1)
#define ONE (SERVICE_FIRST + 2)
#define TWO (SERVICE_FIRST + 3)
#define LATER (SERVICE_FIRST + 4)
#define ROWS (SERVICE_FIRST + 5)

struct leaves {
	struct snapshot snapshot;
	struct service_state states[ROWS];
	uint64_t via[ROWS], owners[ALL];
	struct table table;
	uint64_t *cells;
	uint64_t now_s;
};

static void show_row(struct leaves *l, uint32_t row, const char *name, bool anyones)
{
	l->states[row] = (struct service_state){
		.state = ROW_SHOWN,
		.subject = subjects_enter(&l->snapshot.subjects, SUBJECT_SERVICE, name),
		.fixed = row <= WEB,
		.anyones = anyones,
	};
}

static void leaves_init(struct leaves *l)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive");
	struct error error;

	*l = (struct leaves){ .snapshot = { .row_count = ROWS, .states = l->states }, .now_s = 1 };
	show_row(l, SERVICE_KERNEL, "kernel", false);
	show_row(l, SERVICE_OTHER, "other", false);
	show_row(l, WEB, "web", false);
	for (uint32_t row = UNIT; row < ROWS; row++)
		l->states[row].state = ROW_HIDDEN;
	l->cells = row_table(&l->table, &member, 1, 8, ALL, SUBJECT_SERVICE);
	l->table.rows.by_leave = true;
	l->table.rows.kept = 2;
	l->table.rows.open = 3;
	strcpy(l->table.schema.subject.via, "via");
	l->table.rows.via.mapping.start = l->via;
	l->table.rows.owners.mapping.start = l->owners;
	CHECK_INT(slots_start(&l->table, &error), 0);
}

static void leaves_done(struct leaves *l)
{
	table_done(&l->table);
	subjects_done(&l->snapshot.subjects);
}

/* Readings, a second apart; in each the owner of each slot has counted as many as `rates` says. */
static void read_on(struct leaves *l, unsigned readings, const uint64_t rates[ALL])
{
	for (unsigned i = 0; i < readings; i++) {
		for (uint32_t slot = 0; slot < ALL && rates; slot++)
			l->cells[slot] += rates[slot];
		read_at(&l->table, &l->snapshot, S(l->now_s++));
	}
}

/* As the kernel does at the first event of a service that may have one. */
static void take(struct leaves *l, uint32_t row, uint32_t slot)
{
	CHECK_INT(l->via[row] & SLOT_NONE || row == WEB, 1);
	CHECK_UINT(l->owners[slot], 0);
	l->owners[slot] = row + 1;
	l->via[row] = slot;
}

static void refuse(struct leaves *l, uint32_t row)
{
	CHECK_INT((l->via[row] & SLOT_NONE) != 0, 1);
	l->via[row] |= SLOT_REFUSED | l->owners[0];
}

static uint64_t total_of(const struct leaves *l, uint32_t row)
{
	size_t subject = (size_t)l->states[row].subject;

	return subject < l->table.accumulators.count &&
			       l->table.accumulators.accumulator[subject].total
		       ? total(&l->table, subject, 0)
		       : 0;
}

/* A name without series may have none; with them, of what is its own to have. */
static void test_leave(void)
{
	static const struct {
		const char *what;
		uint32_t row;
		bool anyones;
		uint64_t want;
	} cases[] = {
		{ "unit", UNIT, false, SLOT_NONE | SLOT_GROUP },
		{ "command", ONE, true, SLOT_NONE },
	};
	struct leaves l;

	leaves_init(&l);
	CASE("hidden, and a service of a block");
	read_on(&l, 1, NULL);
	for (uint32_t row = WEB; row < ROWS; row++)
		CHECK_UINT(l.via[row], 0);
	CASE("kernel threads");
	CHECK_UINT(l.via[SERVICE_KERNEL], SLOT_NONE | SLOT_GROUP);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t asked = l.owners[0];

		CASE("%s with series", cases[i].what);
		show_row(&l, cases[i].row, cases[i].what, cases[i].anyones);
		read_on(&l, 1, NULL);
		CHECK_UINT(l.via[cases[i].row], cases[i].want);
		CASE("%s: who had none asks again, once", cases[i].what);
		CHECK_UINT(l.owners[0], asked + 1);
		read_on(&l, 1, NULL);
		CHECK_UINT(l.owners[0], asked + 1);
	}
	CASE("gone without a row");
	l.states[ONE].state = ROW_RETIRED;
	read_on(&l, 1, NULL);
	CHECK_UINT(l.via[ONE], 0);
	leaves_done(&l);
}

/* A unit or a container that may be of a Service block, of which the name is not known yet. */
static void test_early(void)
{
	struct leaves l;

	CASE("may be of a block");
	leaves_init(&l);
	l.snapshot.early_rows = 1;
	l.states[LATER].state = ROW_FREE;
	read_on(&l, 2, NULL);
	CHECK_UINT(l.via[LATER], SLOT_NONE | SLOT_GROUP);
	CHECK_UINT(l.via[TWO], 0);
	CHECK_UINT(l.owners[0], 1);
	CASE("held, what it counts waits");
	take(&l, LATER, 2);
	l.states[LATER] = (struct service_state){ .state = ROW_HIDDEN, .held = true };
	l.cells[2] += 5;
	read_on(&l, 1, NULL);
	CHECK_UINT(total_of(&l, SERVICE_OTHER), 0);
	CASE("it is of a block");
	l.states[LATER] = l.states[WEB];
	read_on(&l, 1, NULL);
	CHECK_UINT(total_of(&l, WEB), 5);
	CASE("gone, and free again");
	l.states[LATER] = (struct service_state){ .state = ROW_RETIRED };
	read_on(&l, 2, NULL);
	CHECK_UINT(l.via[LATER], 0);
	l.states[LATER].state = ROW_FREE;
	read_on(&l, 1, NULL);
	CHECK_UINT(l.via[LATER], SLOT_NONE | SLOT_GROUP);
	leaves_done(&l);
}

/* All rows have owners, and nobody of anyone's names has counted much for long. */
static void fill(struct leaves *l, const uint64_t rates[ALL])
{
	leaves_init(l);
	show_row(l, UNIT, "unit", false);
	show_row(l, ONE, "one", true);
	show_row(l, TWO, "two", true);
	show_row(l, LATER, "later", true);
	read_on(l, 1, NULL);
	take(l, WEB, 1);
	take(l, UNIT, 2);
	take(l, ONE, 3);
	take(l, TWO, 4);
	read_on(l, SLOT_OLD_READINGS - 1, rates);
}

/* The one that counts least gives its row back; it loses nothing, and none that counts enough. */
static void test_given_back(void)
{
	static const uint64_t idle[ALL] = { 0 };
	uint64_t rates[ALL] = { 0, 0, 0, 5, 0 };
	struct leaves l;

	fill(&l, rates);
	CASE("nobody waits");
	read_on(&l, 5, rates);
	CHECK_UINT(l.table.slots.returned, 0);
	CASE("one waits");
	l.cells[4] += 3;
	refuse(&l, LATER);
	read_on(&l, 1, rates);
	CHECK_UINT(l.table.slots.returned, 1);
	CHECK_UINT(l.table.slots.waiting, 1);
	CHECK_UINT(l.via[TWO], SLOT_NONE);
	CHECK_UINT(l.owners[4], SLOT_CLOSED | (TWO + 1));
	CASE("what is counted until it is free is its own");
	l.cells[4] += 7;
	read_on(&l, 1, rates);
	CHECK_UINT(total_of(&l, TWO), 10);
	CHECK_UINT(l.owners[4], 0);
	CASE("what the next owner counts is his");
	take(&l, LATER, 4);
	rates[4] = 100;
	read_on(&l, 2, rates);
	CHECK_UINT(total_of(&l, LATER), 200);
	CHECK_UINT(total_of(&l, TWO), 10);
	CHECK_UINT(l.table.slots.waiting, 0);
	CASE("all others count enough, or have rows that are not anyone's");
	refuse(&l, TWO);
	read_on(&l, 2 * SLOT_OLD_READINGS, rates);
	CHECK_UINT(l.table.slots.returned, 1);
	CHECK_UINT(l.owners[1], WEB + 1);
	CHECK_UINT(l.owners[2], UNIT + 1);
	CASE("a row that was busy once, and no more");
	read_on(&l, 20 * SLOT_OLD_READINGS, idle);
	CHECK_UINT(l.table.slots.returned, 2);
	leaves_done(&l);
}

/* Who waits takes nothing from those that come before him. */
static void test_who_gives(void)
{
	static const struct {
		const char *what;
		bool anyones; /* waits */
		uint64_t rates[ALL];
		uint32_t want; /* the slot that is closed, 0: none */
		bool unit;     /* has slot 4 */
	} cases[] = {
		{ "a command waits, another is idle", true, { 0, 0, 0, 5, 0 }, 4, false },
		{ "a command waits, one is more idle", true, { 0, 0, 0, 0, 0 }, 3, false },
		{ "a command waits, a unit is idle", true, { 0, 0, 0, 1, 1 }, 0, false },
		{ "a unit waits, a unit and a command are idle",
		  false,
		  { 0, 0, 0, 5, 0 },
		  4,
		  false },
		{ "a unit waits, another has one of anyone's", false, { 0, 0, 0, 0, 0 }, 3, true },
		{ "a command waits, a unit has one of anyone's", true, { 0, 0, 0, 5, 0 }, 0, true },
		{ "a unit waits, a unit is idle", false, { 0, 0, 0, 1, 1 }, 2, false },
		{ "a unit waits, the service of a block is idle",
		  false,
		  { 0, 0, 1, 1, 1 },
		  0,
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct leaves l;

		CASE("%s", cases[i].what);
		fill(&l, cases[i].rates);
		l.states[LATER].anyones = cases[i].anyones;
		l.states[TWO].anyones = !cases[i].unit;
		refuse(&l, LATER);
		read_on(&l, 1, cases[i].rates);
		for (uint32_t slot = 1; slot < ALL; slot++)
			CHECK_INT((l.owners[slot] & SLOT_CLOSED) != 0, slot == cases[i].want);
		CHECK_UINT(l.table.slots.returned, cases[i].want != 0);
		leaves_done(&l);
	}
}

/* None is taken back before it is old, nor while one is free. */
static void test_kept(void)
{
	struct leaves l;

	fill(&l, NULL);
	refuse(&l, LATER);
	l.states[ONE].state = ROW_RETIRED;
	CASE("one is free");
	read_on(&l, 2 * SLOT_OLD_READINGS, NULL);
	CHECK_UINT(l.table.slots.returned, 0);
	CASE("its next owner has it for a while");
	l.states[ONE].state = ROW_SHOWN;
	read_on(&l, 1, NULL);
	take(&l, ONE, 3);
	l.cells[4] += 1000000;
	read_on(&l, SLOT_OLD_READINGS - 1, NULL);
	CHECK_UINT(l.table.slots.returned, 0);
	read_on(&l, 1, NULL);
	CHECK_UINT(l.owners[3], SLOT_CLOSED | (ONE + 1));
	CASE("it ends before that is free");
	l.cells[3] += 4;
	l.states[ONE] = (struct service_state){ .state = ROW_RETIRED };
	read_on(&l, 1, NULL);
	CHECK_UINT(l.owners[3], 0);
	CHECK_UINT(total_of(&l, SERVICE_OTHER), 4);
	leaves_done(&l);
}

/* Readings that only catch up take back nothing, but free what is closed. */
static void test_catch_up(void)
{
	struct leaves l;
	struct error error;

	CASE("catching up");
	fill(&l, NULL);
	refuse(&l, LATER);
	CHECK_INT(table_catch_up(&l.table, &l.snapshot, S(l.now_s), &error), 0);
	CHECK_UINT(l.table.slots.returned, 0);
	read_on(&l, 1, NULL);
	CHECK_UINT(l.table.slots.returned, 1);
	l.cells[3] += 2;
	CHECK_INT(table_catch_up(&l.table, &l.snapshot, S(l.now_s), &error), 0);
	CHECK_UINT(l.owners[3], 0);
	read_on(&l, 1, NULL);
	CHECK_UINT(total_of(&l, ONE), 2);
	leaves_done(&l);
}

int main(void)
{
	test_leave();
	test_early();
	test_given_back();
	test_who_gives();
	test_kept();
	test_catch_up();
	return testing_end();
}
