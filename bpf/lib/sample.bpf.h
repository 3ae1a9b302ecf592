/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Common parts of samplers, the programs with a SAMPLE tag.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "metric.bpf.h"

u64 sample_ns; /* time since the last run: what each thread that is seen counts for */

enum sample_state {
	SAMPLE_RUNNING,
	SAMPLE_QUEUED, /* waits for a CPU */
	SAMPLE_ASLEEP,
};

/* The state of a thread before the sampler began. The thread that ran on the sampler's CPU was
 * queued by the switch that started the sampler: it counts as running. */
static __always_inline enum sample_state sample_state(struct task_struct *task)
{
	struct task_struct *sampler = bpf_get_current_task_btf();
	u64 queued = task_queued(task);

	if (task->on_cpu || (queued && queued == sampler->sched_info.last_arrival))
		return SAMPLE_RUNNING;
	return queued ? SAMPLE_QUEUED : SAMPLE_ASLEEP;
}

#endif
