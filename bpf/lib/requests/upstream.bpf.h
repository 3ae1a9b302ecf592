/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Counts for which upstream a thread waits in a call on a connection of its own, by the address to
 * which that is connected. Of a call that waits for several the upstream is unknown.
 */
#ifndef UPSTREAM_BPF_H
#define UPSTREAM_BPF_H

#include "blocked.bpf.h"
#include "refused.bpf.h"
#include "upstream_name.bpf.h"

struct upstream_row {
	u64 ns METRIC("delay_rate-upstream rate scale=1/1000000000") UNIT("seconds per second")
		HELP("Waiting for another service: on its connections, by address, by samples")
			DEFAULT(off);
};

/* Upstream addresses are chosen by others, so only the 1,024 used last are stored. */
LRU_HASH(upstreams, struct upstream_key, struct upstream_row, 1024) SUBJECT("key");

/* The socket that the call of a blocked thread is about; NULL: none, or several. */
static const struct sock *upstream_socket(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	switch (call_kind(call_number(regs))) {
	case CALL_RECEIVE:
	case CALL_SEND:
	case CALL_CONNECT:
		return socket_of(task, call_argument(regs, 1));
	default:
		return NULL;
	}
}

/* A thread of this service has waited for ns. */
static __noinline void upstream_count(struct task_struct *task, u32 service, u64 ns)
{
	struct upstream_key key = { .service = service };
	struct upstream_row none = {}, *row;

	upstream_name(upstream_socket(task), &key);
	row = bpf_map_lookup_elem(&upstreams, &key);
	if (!row) {
		bpf_map_update_elem(&upstreams, &key, &none, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&upstreams, &key));
	}
	if (row)
		add(&row->ns, ns);
}

#endif
