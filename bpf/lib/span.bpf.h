/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Measures how long something takes that starts at one hook and ends at another, in the same
 * thread or, where nothing else runs in between, on the same CPU. There is one span at a time: a
 * new start replaces the old one. What started before the probe, or before a pause of it, has an
 * unknown start and is not measured. Nothing of this is needed if the kernel stores the start, as
 * in a block request.
 */
#ifndef SPAN_BPF_H
#define SPAN_BPF_H

#include "attached.bpf.h"
#include "map.bpf.h"
#include "storage.bpf.h"

struct span {
	u64 began_ns; /* 0: no span is open */
	u64 what;     /* whatever the probe needs at the end */
};

#define TASK_SPANS(name) TASK_STORAGE(name, struct span)
#define CPU_SPANS(name) PERCPU_ARRAY(name, u32, struct span, 1)

/* Of a thread: the span to start, NULL: no memory; and the one that is open, NULL: none. */
static __always_inline struct span *task_span_make(void *spans, struct task_struct *task)
{
	return task_storage_make(spans, task);
}

static __always_inline struct span *task_span(void *spans, struct task_struct *task)
{
	struct span *span = bpf_task_storage_get(spans, task, NULL, 0);

	return span && is_since_attached(span->began_ns) ? span : NULL;
}

/* The same for the current CPU. */
static __always_inline struct span *cpu_span_make(void *spans)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(spans, &zero);
}

static __always_inline struct span *cpu_span(void *spans)
{
	struct span *span = cpu_span_make(spans);

	return span && is_since_attached(span->began_ns) ? span : NULL;
}

static __always_inline void span_begin(struct span *span)
{
	span->began_ns = bpf_ktime_get_ns();
}

/* Ends an open span. Returns its duration in ns. */
static __always_inline u64 span_end(struct span *span)
{
	u64 taken_ns = bpf_ktime_get_ns() - span->began_ns;

	span->began_ns = 0;
	return taken_ns;
}

#endif
