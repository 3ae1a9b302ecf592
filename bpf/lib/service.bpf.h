/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Whose event is it? Included by every probe; the maps are those of the
 * service object, which the engine hands to each probe before load. Where the
 * meaning of what is in one changes, so does the number of its layout.
 */
#ifndef SERVICE_BPF_H
#define SERVICE_BPF_H

#include "metric.bpf.h"
#include "service.h"

const volatile u32 service_rows = SERVICE_FIRST;
const volatile bool watch_other = true; /* processes of no service count, too */

enum service_task_flag {
	TASK_ASSIGNED = 1,     /* by the engine: holds until the next exec */
	TASK_UNCLASSIFIED = 2, /* the engine has not seen this command line */
	TASK_LISTED = 4,       /* the engine is about to look at it */
	TASK_WAITING = 8,      /* has not the row that it should, there was none free */
	TASK_OF_GROUP = 16,    /* with that: the row of a unit or a container */
};

/* Of a thread group's leader: which row its events belong to. */
struct service_task {
	u32 row;
	u32 previous;    /* before the last move */
	u32 process_row; /* 0: none */
	u32 flags;
	u32 known;
	u32 ended; /* service_time() when it left the processes of its row, 0: it is there */
};

TASK_STORAGE(service_tasks, struct service_task) SHARED(2);

/* How often a process has changed its row, or was met: what remembers a row asks again then. */
ARRAY(service_moves, u64, 1) SHARED(1);

static __always_inline u64 *service_moves_at(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&service_moves, &zero);
}

/* About milliseconds since boot, never 0. */
static __always_inline u32 service_time(void)
{
	return bpf_ktime_get_boot_ns() >> 20 | 1;
}

/* NULL: forked while memory was short, or not a leader. */
static __always_inline struct service_task *service_task(struct task_struct *leader)
{
	return bpf_task_storage_get(&service_tasks, leader, NULL, 0);
}

static __always_inline u32 service_of(struct task_struct *task)
{
	struct service_task *st = service_task(task->group_leader);

	return st ? st->row : SERVICE_OTHER;
}

static __always_inline bool service_watched(u32 row)
{
	return row != SERVICE_OTHER || watch_other;
}

#endif
