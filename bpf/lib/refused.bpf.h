/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What found no room, or no memory: counted, and reported under ebpf-self. Whoever makes something
 * that may not fit says so with the result: return or_refused(task_storage_make(...)).
 */
#ifndef REFUSED_BPF_H
#define REFUSED_BPF_H

#include "metric.bpf.h"

u64 refused;

static __always_inline void refuse(void)
{
	add(&refused, 1);
}

/* The same; NULL counts. */
static __always_inline void *or_refused(void *made)
{
	if (!made)
		refuse();
	return made;
}

#endif
