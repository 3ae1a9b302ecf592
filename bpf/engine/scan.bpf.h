/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the scan does with each process: it carries out assignments of the engine and lists what the
 * engine has to inspect.
 */
#ifndef ENGINE_SCAN_BPF_H
#define ENGINE_SCAN_BPF_H

#include "service_process.bpf.h"

volatile u32 scan_mode; /* enum scan_mode */

MAP(assignments, HASH, BPF_F_NO_PREALLOC, u32, struct assignment, 4096);

/* Gives a process that waits for a row one if there is one now. */
static void match_unassigned(struct task_struct *task, struct service_task *st, bool is_next)
{
	u32 row;

	if (st->flags & TASK_ASSIGNED)
		row = st->row;
	else
		row = match_next(task, task->comm, is_next);
	if (row_is_none(row))
		return;
	if (row != st->row) {
		move_asleep(task, st, row);
	} else if (st->process_row || label_process(task, st, is_next)) {
		clear_unassigned(st);
		walk_all();
	}
}

static void match_again(struct task_struct *task, struct service_task *st)
{
	if (!(st->flags & TASK_ASSIGNED) && !st->ended)
		move_asleep(task, st, match_row(task, task->comm));
}

/* Static, because it is too large for the stack; only one scan runs at a time. */
static struct unassigned_process unassigned;

/* Lists a process that waits for a row, unless its key has got one meanwhile. */
static void list_unassigned(struct seq_file *seq, struct task_struct *task, struct service_task *st)
{
	struct command_name name = {};
	u64 *since;

	if (st->flags & TASK_UNASSIGNED)
		match_unassigned(task, st, false);
	if (!(st->flags & TASK_UNASSIGNED))
		return;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), task->comm);
	wanted_key((u64)BPF_CORE_READ(task, cgroups), &name, &unassigned.key);
	since = bpf_task_storage_get(&unassigned_since, task, NULL, 0);
	unassigned.start_ns = task->start_boottime;
	unassigned.since_ns =
		since ? *since : 0; /* 0: the storage could not be made then, for lack of memory */
	unassigned.pid = task->tgid;
	unassigned.row = st->row;
	bpf_seq_write(seq, &unassigned, sizeof(unassigned));
}

/* A process that has executed a program or renamed itself since it was listed is not assigned but
 * listed again. A process that has exited and waits to be reaped belongs to no row any more. */
static void carry_out_assignment(struct task_struct *task, struct service_task *st,
				 const struct assignment *assignment)
{
	if (assignment->start_ns != task->start_boottime || st->ended)
		return;
	if (assignment->row == ASSIGNMENT_MATCH) {
		if (st->flags & TASK_UNASSIGNED)
			match_unassigned(task, st, true);
		return;
	}
	if (st->flags & TASK_UNCLASSIFIED)
		return;
	if (assignment->row == ASSIGNMENT_RETRY) {
		mark_unclassified(st);
		return;
	}
	move_asleep(task, st, assignment->row);
	set_flags(st, TASK_ASSIGNED);
	clear_flags(st, TASK_LISTED);
}

static bool scan_lists(const struct service_task *st)
{
	switch (scan_mode) {
	case SCAN_UNCLASSIFIED:
		return st->flags & TASK_UNCLASSIFIED;
	case SCAN_AGAIN:
		return st->flags & (TASK_UNCLASSIFIED | TASK_LISTED);
	}
	return true;
}

/* Changes the flags before the entry is written, so that a later exec or rename makes the process
 * unclassified again. */
static u32 list_flags(struct task_struct *task, struct service_task *st)
{
	u32 flags = st->flags & TASK_ASSIGNED ? LISTED_ASSIGNED : 0;

	if (task->self_exec_id == task->parent_exec_id)
		flags |= LISTED_FORKED;
	if (scan_mode == SCAN_PROCESSES || !(st->flags & (TASK_UNCLASSIFIED | TASK_LISTED)))
		return flags;
	set_flags(st, TASK_LISTED);
	clear_flags(st, TASK_UNCLASSIFIED);
	return flags | LISTED_UNCLASSIFIED;
}

/* The row that the engine has assigned to the parent, or 0. The parent's own events may still be on
 * their way. */
static u32 parent_row(struct task_struct *parent)
{
	struct service_task *st = parent ? service_task(parent) : NULL;

	return st && st->flags & TASK_ASSIGNED ? st->row : 0;
}

static void list_process(struct seq_file *seq, struct task_struct *task, struct service_task *st)
{
	struct task_struct *parent = task->real_parent->group_leader;
	struct listed_process listed = {};

	listed.start_ns = task->start_boottime;
	listed.pid = task->tgid;
	listed.parent = parent->tgid;
	listed.flags = list_flags(task, st);
	listed.row = st->row;
	listed.parent_row = parent_row(parent);
	listed.uid = task->cred->euid.val;
	if (bpf_seq_write(seq, &listed, sizeof(listed)) != 0 && listed.flags & LISTED_UNCLASSIFIED)
		set_flags(st, TASK_UNCLASSIFIED);
}

#endif
