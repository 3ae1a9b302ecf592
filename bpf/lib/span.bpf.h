/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How long something takes that begins at one hook and ends at another, in the same thread or,
 * where nothing comes between, on the same CPU. One at a time goes on: a new begin replaces the
 * old one. Of what began before the probe, or before a pause of it, the begin is not known, so
 * it has no end here. What the kernel remembers the begin of, as a block request does, needs
 * none of this.
 */
#ifndef SPAN_BPF_H
#define SPAN_BPF_H

#include "attached.bpf.h"
#include "map.bpf.h"
#include "storage.bpf.h"

struct span {
	u64 began_ns; /* 0: none goes on */
	u64 what;     /* whatever the probe wants to know at the end */
};

#define TASK_SPANS(name) TASK_STORAGE(name, struct span)
#define CPU_SPANS(name) PERCPU_ARRAY(name, u32, struct span, 1)

/* Of a thread: the span that may begin, NULL: no memory; and the one that goes on, NULL: none. */
static __always_inline struct span *task_span_make(void *spans, struct task_struct *task)
{
	return task_storage_make(spans, task);
}

static __always_inline struct span *task_span(void *spans, struct task_struct *task)
{
	struct span *span = bpf_task_storage_get(spans, task, NULL, 0);

	return span && is_since_attached(span->began_ns) ? span : NULL;
}

/* Likewise of this CPU. */
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

/* Of one that goes on: how long it has taken, in ns. */
static __always_inline u64 span_end(struct span *span)
{
	u64 taken_ns = bpf_ktime_get_ns() - span->began_ns;

	span->began_ns = 0;
	return taken_ns;
}

#endif
