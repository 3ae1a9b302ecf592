/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Whose event is it? Every probe includes this; the maps belong to the service object, and the
 * engine hands them to each probe before load. If the meaning of a map's contents changes, the
 * number of its layout changes, too.
 */
#ifndef SERVICE_BPF_H
#define SERVICE_BPF_H

#include "metric.bpf.h"
#include "service.h"

const volatile u32 service_rows = SERVICE_FIRST;

/* Do processes of no service count, too? Static: an object has it only if a program asks, and of such
 * an object the engine leaves out "other" if it sets this to false. */
static const volatile bool watch_other = true;

enum service_task_flag {
	TASK_ASSIGNED = 1,     /* by the engine; valid until the next exec */
	TASK_UNCLASSIFIED = 2, /* the engine has not read this command line */
	TASK_LISTED = 4,       /* the engine is about to read it */
	TASK_UNASSIGNED = 8,   /* has not the row that it should have, because none was free */
	TASK_OF_GROUP = 16, /* with TASK_UNASSIGNED: waits for the row of a unit or a container */
};

/* In the storage of a thread group's leader: the row that its events belong to. */
struct service_task {
	u32 row;
	u32 previous;    /* row before the last move */
	u32 process_row; /* 0: none */
	u32 flags;
	u32 known;
	u32 ended; /* service_time() when it stopped counting as a process of its row, 0: it counts */
};

TASK_STORAGE(service_tasks, struct service_task) SHARED(2);

/* Counts each change of a process's row, and each process that is discovered: caches of a row
 * compare it. */
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

/* NULL: not a leader, or forked while memory was short. */
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
