/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of single processes, for services with PerProcess.
 */
#ifndef ENGINE_PROCESS_ROW_BPF_H
#define ENGINE_PROCESS_ROW_BPF_H

#include "row.bpf.h"

MMAP_ARRAY(process_labels, struct process_label, 1) SUBJECT("process");

QUEUE(process_free, u32, 1);

static bool processes_wait(void)
{
	return service_counters.unassigned > service_counters.unassigned_names;
}

/* Gives a process a row of its own if its service wants that; false: no row is free, or other
 * processes wait for one and it is not the one that has waited longest. */
static bool label_process(struct task_struct *leader, struct service_task *st, bool is_next)
{
	struct service *s = service_at(st->row);
	struct process_label *l;
	u32 process;

	if (!s || !(s->flags & SERVICE_PER_PROCESS))
		return true;
	if (!is_next && processes_wait())
		return false;
	if (bpf_map_pop_elem(&process_free, &process))
		return false;
	l = bpf_map_lookup_elem(&process_labels, &process);
	if (!l)
		return false;
	l->start_ns = leader->start_boottime;
	l->pid = leader->tgid;
	l->row = st->row;
	__sync_lock_test_and_set(&l->state, PROCESS_ALIVE);
	st->process_row = process;
	return true;
}

static void unlabel_process(struct service_task *st)
{
	u32 process = st->process_row;
	struct process_label *l = process ? bpf_map_lookup_elem(&process_labels, &process) : NULL;

	if (!l)
		return;
	l->end_ns = bpf_ktime_get_boot_ns();
	__sync_lock_test_and_set(&l->state, PROCESS_ENDED);
}

#endif
