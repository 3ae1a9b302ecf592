/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Records of a ring buffer with an EVENT tag. What finds no room is counted, and reported under
 * ebpf-self.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "metric.bpf.h"

u64 events_dropped;

/* A record of so many bytes, a constant, with whatever was in the ring before; NULL: there is no
 * room. Each that is begun is to be sent. */
static __always_inline void *event_begin(void *ring, u64 size)
{
	void *record = bpf_ringbuf_reserve(ring, size, 0);

	if (!record)
		add(&events_dropped, 1);
	return record;
}

static __always_inline void event_send(void *record)
{
	bpf_ringbuf_submit(record, 0);
}

#endif
