/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Counts insertions that failed for lack of room or memory; the engine reports them under
 * ebpf-self. Wrap the result of what may fail: return or_refused(task_storage_make(...)).
 */
#ifndef REFUSED_BPF_H
#define REFUSED_BPF_H

#include "metric.bpf.h"

u64 refused;

static __always_inline void refuse(void)
{
	add(&refused, 1);
}

/* The same; counts if `made` is NULL. */
static __always_inline void *or_refused(void *made)
{
	if (!made)
		refuse();
	return made;
}

#endif
