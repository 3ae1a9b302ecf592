/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What samplers have in common, programs with a SAMPLE tag.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "metric.bpf.h"

u64 sample_ns; /* how long since the last run: what each thread that is seen stands for */

enum sample_state {
	SAMPLE_RUNNING,
	SAMPLE_QUEUED, /* waits for a CPU */
	SAMPLE_ASLEEP,
};

/* What a thread does, as it was before the sampler began: who ran on its CPU had to leave it for
 * the sampler, and was queued in the very switch in which that came. */
static __always_inline enum sample_state sample_state(struct task_struct *task)
{
	struct task_struct *sampler = bpf_get_current_task_btf();
	u64 queued = task_queued(task);

	if (task->on_cpu || (queued && queued == sampler->sched_info.last_arrival))
		return SAMPLE_RUNNING;
	return queued ? SAMPLE_QUEUED : SAMPLE_ASLEEP;
}

#endif
