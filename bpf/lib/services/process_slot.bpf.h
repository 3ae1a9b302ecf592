/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of processes, for services with PerProcess, that are assigned on first use, for a table with
 *
 *     SUBJECT("process via=process_slots owners=process_slot_owners")
 *
 * A process has a row from its first event to its exit. `Rows` of the Probe block says how many
 * there are.
 */
#ifndef PROCESS_SLOT_BPF_H
#define PROCESS_SLOT_BPF_H

#include "slot.bpf.h"

MMAP_ARRAY(process_slots, u32, 1);
MMAP_ARRAY(process_slot_owners, u32, 1);

/* The slot of a process row, 0: none. */
__noinline u32 process_slot_claim(u32 row)
{
	return slot_claim_any(&process_slots, &process_slot_owners, row);
}

#define LAST_EVENTS 10 /* units of service_time(); the engine waits for twice as long */

/* The slot of the task's process, claimed if it has none. 0: do not count, because the process has
 * no series of its own, no slot is free, or it exited too long ago, as one that waits to be reaped:
 * its row may belong to another process by now. */
static __always_inline u32 process_slot(struct task_struct *task)
{
	struct service_task *st = service_task(task->group_leader);

	if (!st)
		return 0;
	if (st->ended && service_time() - st->ended > LAST_EVENTS)
		return 0;
	return process_slot_claim(st->process_row);
}

#endif
