/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A process of a service: it enters a service, moves to another, waits for a row, and exits.
 */
#ifndef ENGINE_SERVICE_PROCESS_BPF_H
#define ENGINE_SERVICE_PROCESS_BPF_H

#include "match.bpf.h"
#include "process_row.bpf.h"
#include "storage.bpf.h"
#include "walk.bpf.h"

const volatile bool command_lines = false; /* the engine needs the command lines of processes */

/* In leaders: since when the process waits for a row. */
TASK_STORAGE(unassigned_since, u64);

static void set_flags(struct service_task *st, u32 flags)
{
	__sync_fetch_and_or(&st->flags, flags);
}

/* Returns the previous flags. */
static u32 clear_flags(struct service_task *st, u32 flags)
{
	return __sync_fetch_and_and(&st->flags, ~flags);
}

static void change_unassigned(const struct service_task *st, bool is_group, s64 n)
{
	__sync_fetch_and_add(&service_counters.unassigned, n);
	if (st->row != SERVICE_OTHER)
		return;
	__sync_fetch_and_add(&service_counters.unassigned_names, n);
	if (is_group)
		__sync_fetch_and_add(&service_counters.unassigned_groups, n);
}

/* The process is matched again when a row is free and no other has waited longer. */
static void wait_for_room(struct task_struct *leader, struct service_task *st, bool is_group)
{
	u32 flags = is_group ? TASK_UNASSIGNED | TASK_OF_GROUP : TASK_UNASSIGNED;
	u64 *since;

	if (__sync_fetch_and_or(&st->flags, flags) & TASK_UNASSIGNED)
		return;
	add(&service_counters.no_room, 1);
	change_unassigned(st, is_group, 1);
	since = task_storage_make(&unassigned_since, leader);
	if (since)
		*since = bpf_ktime_get_boot_ns();
}

/* Call before its row changes. */
static void clear_unassigned(struct service_task *st)
{
	u32 flags = TASK_UNASSIGNED | TASK_OF_GROUP;

	flags = st->flags & flags ? clear_flags(st, flags) : 0;
	if (flags & TASK_UNASSIGNED)
		change_unassigned(st, flags & TASK_OF_GROUP, -1);
}

static void enter_row(struct task_struct *leader, struct service_task *st, u32 row)
{
	st->row = row_is_none(row) ? SERVICE_OTHER : row;
	add_row_processes(st->row, 1);
	if (row_is_none(row) || !label_process(leader, st, false))
		wait_for_room(leader, st, row == ROW_NONE_GROUP);
}

/* Counts after the row is set, so that a cached row read in between is read again. */
static void count_move(void)
{
	u64 *moves = service_moves_at();

	if (moves)
		add(moves, 1);
}

/* The process may have waited for a row of another kind until now. */
static void wait_as(struct task_struct *leader, struct service_task *st, bool is_group)
{
	if (!(st->flags & TASK_OF_GROUP) == is_group)
		clear_unassigned(st);
	wait_for_room(leader, st, is_group);
}

static void move_process(struct task_struct *leader, struct service_task *st, u32 row)
{
	if (row_is_none(row) && st->row == SERVICE_OTHER) {
		wait_as(leader, st, row == ROW_NONE_GROUP);
		return;
	}
	if (st->row == row)
		return;
	clear_unassigned(st);
	st->previous = st->row;
	add_row_processes(st->row, -1);
	unlabel_process(st);
	st->process_row = 0;
	enter_row(leader, st, row);
	count_move();
}

/* Moves a process whose threads may be asleep and stay so; then the next walk visits all tasks. */
static void move_asleep(struct task_struct *leader, struct service_task *st, u32 row)
{
	u32 was = st->row;

	move_process(leader, st, row);
	if (st->row != was &&
	    (leader != bpf_get_current_task_btf() || leader->signal->live.counter > 1))
		walk_all();
}

/* Asks the engine to read the command line. */
static void mark_unclassified(struct service_task *st)
{
	if (!command_lines)
		return;
	set_flags(st, TASK_UNCLASSIFIED);
	add(&service_counters.unclassified, 1);
}

/* The storage of a leader, created and filled when the leader is first seen; NULL: no memory. */
static struct service_task *discover_process(struct task_struct *leader, const u32 *inherited)
{
	struct service_task *st;
	u32 row;

	st = task_storage_make(&service_tasks, leader);
	if (!st) {
		add(&service_counters.refused, 1);
		return NULL;
	}
	if (__sync_lock_test_and_set(&st->known, 1))
		return st;
	row = inherited ? *inherited : match_row(leader, leader->comm);
	st->previous = row_is_none(row) ? SERVICE_OTHER : row;
	enter_row(leader, st, row);
	if (!inherited) {
		count_move(); /* until now its events belonged to no service */
		walk_all();
		mark_unclassified(st);
	}
	return st;
}

/* If the engine has not yet classified the parent, or is about to, the child has to be classified,
 * too. */
static void inherit_flags(struct task_struct *child, struct service_task *st, u32 flags)
{
	if (flags & TASK_ASSIGNED)
		set_flags(st, TASK_ASSIGNED);
	if (flags & TASK_UNASSIGNED)
		wait_for_room(child, st, flags & TASK_OF_GROUP);
	if (flags & (TASK_UNCLASSIFIED | TASK_LISTED))
		mark_unclassified(st);
}

static void exit_service(struct service_task *st)
{
	if (!st || __sync_val_compare_and_swap(&st->ended, 0, service_time()))
		return;
	add_row_processes(st->row, -1);
	clear_unassigned(st);
	unlabel_process(st);
}

#endif
