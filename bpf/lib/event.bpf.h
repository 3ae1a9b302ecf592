/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Records of a ring buffer with an EVENT tag. Records that find no room are counted and reported
 * under ebpf-self.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "metric.bpf.h"

u64 events_dropped;

/* Reserves a record of `size` bytes, a constant; its contents are whatever was in the ring before.
 * NULL: there is no room. Every record must be sent by event_send(). */
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
