/* SPDX-License-Identifier: MIT */
/*
 * Slots: rows that are given out on first use. This file decides which services may have one, and
 * which give theirs back.
 *
 * Each configured service has a reserved slot. Any other service may have one if it has series, or
 * if it may turn out to belong to a configured service once its name is known. Until then, and when
 * no slot is free, it counts in slot 0, under "other". Some slots are only for units and
 * containers. When a service with series finds no slot, services that count next to nothing give
 * theirs back. A service with a user-controlled name never takes the slot of one without.
 *
 * A slot is closed first: programs that look up their slot from then on no longer count in it.
 * Programs that looked it up before may still add to it; that is read at the next reading, and then
 * the slot is free.
 */
#include "slots.h"

#include "kind.h"
#include "table_row.h"
#include "tail_percentile.h"

#include "bpf/lib/services/service.h"
#include "bpf/lib/services/slot.h"

#include <errno.h>
#include <stdlib.h>

#define SPARE_DIVISOR \
	8 /* at most one of this number of slots is made spare for services without one */

struct slot_use {
	uint32_t owner; /* its row; 0: it had no owner until now */
	unsigned readings;
	uint64_t grown; /* since the last reading */
	double rate;    /* per second, averaged over about SLOT_OLD_READINGS */
};

int slots_start(struct table *table, struct error *error)
{
	if (!table->rows.by_grant)
		return 0;
	table->slots.use = calloc(table->rows.count, sizeof(*table->slots.use));
	return table->slots.use
		       ? 0
		       : error_set(error, -ENOMEM, "map %s: no memory for slots", table->name);
}

/* The number of rows of services or processes, which own slots. */
static uint32_t owner_count(const struct table *table, const struct snapshot *snapshot)
{
	return table_is_of_slot_processes(table) ? snapshot->process_row_count
						 : snapshot->row_count;
}

static bool has_exited(const struct table *table, const struct snapshot *snapshot, uint32_t row)
{
	return table_is_of_slot_processes(table) ? snapshot_process_is_exited(snapshot, row)
						 : snapshot_is_exited(snapshot, row);
}

/* --- how much is counted --- */

/* The column by which slots are compared: the first one that grows. NULL: none does. */
static const struct column *measured_column(const struct table *table)
{
	for (size_t c = 0; c < table->schema.column_count; c++)
		if (!table->schema.columns[c].is_gauge)
			return &table->schema.columns[c];
	return NULL;
}

/* The number of samples or events in the slot, as last read. */
static uint64_t count_in_slot(const struct table *table, uint32_t slot)
{
	const uint64_t *cells =
		(const uint64_t *)table->previous.start + (size_t)slot * table->schema.cells;
	const struct column *column = measured_column(table);
	uint64_t sum = 0;

	if (!column)
		return 0;
	for (uint32_t i = 0; i < column_counts(column); i++)
		sum += cells[column->at + i];
	return sum;
}

static void note_growth(struct table *table, uint32_t slot, uint32_t row, uint64_t grown)
{
	struct slot_use *use = &table->slots.use[slot];

	if (use->owner != row)
		*use = (struct slot_use){ .owner = row };
	use->grown += (int64_t)grown > 0 ? grown : 0;
}

static void average_rate(struct slot_use *use, double elapsed_s)
{
	double rate = (double)use->grown / elapsed_s;

	if (use->readings < SLOT_OLD_READINGS)
		use->readings++;
	use->rate += (rate - use->rate) / use->readings;
	use->grown = 0;
}

/* --- reading --- */

/* The cells in it now are the base for its next owner. */
static void empty_slot(struct table *table, uint32_t slot)
{
	table_remember(table, slot);
	tails_forget(table, slot);
	if (table->slots.use)
		table->slots.use[slot] = (struct slot_use){ 0 };
	rows_free_slot(&table->rows, slot);
}

/* If the owner has exited, the slot is closed, read once more, and freed. The growth of a process
 * without a subject yet is left to the next reading. */
static int read_slot(struct table *table, const struct snapshot *snapshot, uint32_t row,
		     uint32_t slot, struct error *error)
{
	bool exited = has_exited(table, snapshot, row);
	uint64_t before = table->slots.use ? count_in_slot(table, slot) : 0;
	int status = 0;

	if (exited)
		rows_close_slot(&table->rows, row);
	if (row_kind_of(table->schema.subject.kind)->resolve(snapshot, row) >= 0)
		status = table_read_row(table, snapshot, row, slot, error);
	if (table->slots.use)
		note_growth(table, slot, row, count_in_slot(table, slot) - before);
	if (exited)
		empty_slot(table, slot);
	return status;
}

/* Slot 0 counts for all owners without a slot of their own. It has series once it has
 * counted something, which it may never do. */
static int read_other_slot(struct table *table, const struct snapshot *snapshot,
			   struct error *error)
{
	int other = snapshot_service(snapshot, SERVICE_OTHER, table->asks_for_other), status;

	if (other < 0)
		return 0;
	status = table_read_row(table, snapshot, SERVICE_OTHER, 0, error);
	if (status == 0)
		table->accumulators.accumulator[other].fed =
			table->accumulators.accumulator[other].counted;
	return status;
}

/* Adds the last growth of slots that were closed at an earlier reading, and frees them. */
static int read_closed(struct table *table, const struct snapshot *snapshot, struct error *error)
{
	int status = 0;

	for (uint32_t slot = 1; slot < table->rows.count && status == 0; slot++) {
		uint32_t row = rows_closed_by(&table->rows, slot);

		if (!row)
			continue;
		if (row < snapshot->row_count)
			status = table_read_row(table, snapshot, row, slot, error);
		empty_slot(table, slot);
	}
	return status;
}

/* A service that may be of a Service block has a slot from its first event on. */
static bool may_have_slot(const struct table *table, const struct snapshot *snapshot, uint32_t row)
{
	enum row_state state;

	if (!table->slots.use)
		return false;
	state = snapshot->states[row].state;
	return state == ROW_SHOWN ||
	       (row >= snapshot->row_count - snapshot->early_rows && state != ROW_RETIRED);
}

/* Grants slots to services that may have one. Programs whose service found none ask again. */
static void grant_slots(struct table *table, const struct snapshot *snapshot)
{
	bool any = false;

	for (uint32_t row = 1; row < snapshot->row_count; row++)
		if (may_have_slot(table, snapshot, row) && !rows_is_reserved(&table->rows, row))
			any |= rows_grant(&table->rows, row,
					  !snapshot->states[row].user_controlled);
	if (any)
		rows_ask_again(&table->rows);
}

int slots_read(struct table *table, const struct snapshot *snapshot, struct error *error)
{
	int status =
		table_is_of_slot_processes(table) ? 0 : read_other_slot(table, snapshot, error);

	for (uint32_t row = 1; row < owner_count(table, snapshot) && status == 0; row++) {
		uint32_t slot = rows_slot(&table->rows, row);

		if (slot)
			status = read_slot(table, snapshot, row, slot, error);
		else if (has_exited(table, snapshot, row) && !may_have_slot(table, snapshot, row))
			rows_forget_refusal(&table->rows, row);
	}
	if (status || !table->slots.use)
		return status;
	status = read_closed(table, snapshot, error);
	grant_slots(table, snapshot);
	return status;
}

void slots_forget_growth(struct table *table, const struct snapshot *snapshot)
{
	for (uint32_t row = 0; row < owner_count(table, snapshot); row++) {
		uint32_t slot = rows_slot(&table->rows, row);

		if (table->schema.subject.kind == SUBJECT_PROCESS ||
		    (!snapshot->states[row].fixed && slot))
			table_remember(table, slot);
	}
	for (uint32_t slot = 1; slot < table->rows.count && table->slots.use; slot++)
		if (rows_closed_by(&table->rows, slot))
			table_remember(table, slot);
}

/* --- giving back --- */

/* Demand and supply, without the reserved slots; and the part of services with user-controlled
 * names. */
struct slot_demand {
	uint32_t unassigned, unassigned_user; /* services without a slot */
	uint32_t spare, spare_user;           /* slots that are free or closed */
};

static void count_slots(struct table *table, struct slot_demand *demand)
{
	const struct rows *rows = &table->rows;

	for (uint32_t slot = rows->reserved; slot < rows->count; slot++) {
		bool spare = !rows_owner(rows, slot) || rows_closed_by(rows, slot);

		demand->spare += spare;
		demand->spare_user += spare && slot >= rows->user_first;
	}
}

static void count_unassigned(struct table *table, const struct snapshot *snapshot,
			     struct slot_demand *demand)
{
	for (uint32_t row = 1; row < snapshot->row_count; row++) {
		bool waits = snapshot->states[row].state == ROW_SHOWN &&
			     rows_is_refused(&table->rows, row);

		demand->unassigned += waits;
		demand->unassigned_user += waits && snapshot->states[row].user_controlled;
	}
}

/* How many slots to give back so that services without one find one. At most one in SPARE_DIVISOR
 * is made spare. */
static uint32_t wanted_slots(uint32_t unassigned, uint32_t spare, uint32_t slots)
{
	uint32_t most = slots < SPARE_DIVISOR ? slots > 0 : slots / SPARE_DIVISOR;

	most = unassigned < most ? unassigned : most;
	return spare < most ? most - spare : 0;
}

/* The slot that counts least, from user-controlled names first; 0: all count enough. */
static uint32_t find_least_used(const struct table *table, const struct snapshot *snapshot,
				bool user_only)
{
	const struct slot_use *least = NULL;
	bool least_user = false;

	for (uint32_t slot = table->rows.reserved; slot < table->rows.count; slot++) {
		const struct slot_use *use = &table->slots.use[slot];
		bool is_user;

		if (!use->owner || use->readings < SLOT_OLD_READINGS ||
		    use->rate >= SLOT_RATE_MIN || use->owner >= snapshot->row_count ||
		    snapshot->states[use->owner].state != ROW_SHOWN ||
		    rows_slot(&table->rows, use->owner) != slot)
			continue;
		is_user = snapshot->states[use->owner].user_controlled;
		if (!is_user && (user_only || least_user))
			continue;
		if (least && is_user == least_user && use->rate >= least->rate)
			continue;
		least = use;
		least_user = is_user;
	}
	return least ? (uint32_t)(least - table->slots.use) : 0;
}

/* Closes a slot; its service may get another one. */
static void give_slot_back(struct table *table, const struct snapshot *snapshot, uint32_t slot)
{
	uint32_t row = table->slots.use[slot].owner;

	rows_return_slot(&table->rows, slot, row, !snapshot->states[row].user_controlled);
	table->slots.use[slot] = (struct slot_use){ 0 };
	__atomic_fetch_add(&table->slots.returned, 1, __ATOMIC_RELAXED);
}

static void give_slots_back(struct table *table, const struct snapshot *snapshot,
			    const struct slot_demand *demand)
{
	const struct rows *rows = &table->rows;
	uint32_t user_slots = wanted_slots(demand->unassigned_user, demand->spare_user,
					   rows->count - rows->user_first);
	uint32_t groups = wanted_slots(demand->unassigned - demand->unassigned_user, demand->spare,
				       rows->count - rows->reserved);

	while (user_slots || groups) {
		uint32_t slot = find_least_used(table, snapshot, !groups);

		if (!slot)
			return;
		give_slot_back(table, snapshot, slot);
		groups -= groups > 0;
		user_slots -= user_slots > 0 && slot >= rows->user_first;
	}
}

void slots_balance(struct table *table, const struct snapshot *snapshot)
{
	struct slot_demand demand = { 0 };

	if (!table->slots.use || !table->elapsed_ns)
		return;
	for (uint32_t slot = 0; slot < table->rows.count; slot++)
		if (table->slots.use[slot].owner)
			average_rate(&table->slots.use[slot], (double)table->elapsed_ns / 1e9);
	count_slots(table, &demand);
	count_unassigned(table, snapshot, &demand);
	__atomic_store_n(&table->slots.unassigned, demand.unassigned, __ATOMIC_RELAXED);
	if (measured_column(table))
		give_slots_back(table, snapshot, &demand);
}

void slots_done(struct slots *slots)
{
	free(slots->use);
	*slots = (struct slots){ 0 };
}
