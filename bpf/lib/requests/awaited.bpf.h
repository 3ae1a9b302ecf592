/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Estimates how many of the requests that an event loop has passed on wait for upstreams: from the
 * connections that it watches, by TCP's own times, to a tick. A connection from a client that has
 * received last has an open request; one to an upstream that has sent last awaits a response.
 *
 * An instance of epoll has what it watches in a tree. Some paths from its root, left or right at
 * random, are walked. A node at depth d is reached with the probability 2^-d and therefore counts
 * 2^d times: the sums are right on average, whatever the form of the tree.
 */
#ifndef AWAITED_BPF_H
#define AWAITED_BPF_H

#include "blocked.bpf.h"
#include "services/service_request.bpf.h"

#define PATHS 4
#define DEPTH_MAX 24

enum exchange_state { EXCHANGE_NONE, EXCHANGE_REQUESTED, EXCHANGE_AWAITED };

/* enum exchange_state of the socket that this node of an epoll tree watches. Global: verified
 * once. */
__noinline int awaited_at(u64 node)
{
	const struct epitem *item = (const void *)node - bpf_core_field_offset(struct epitem, rbn);
	const struct sock *sk = socket_of_file(BPF_CORE_READ(item, ffd.file));
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;
	s32 sent_later;

	if (!sk || BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_type) != SOCK_STREAM ||
	    BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_ESTABLISHED ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP)
		return EXCHANGE_NONE;
	sent_later = BPF_CORE_READ(tcp, lsndtime) - BPF_CORE_READ(tcp, inet_conn.icsk_ack.lrcvtime);
	switch (socket_role(sk)) {
	case ROLE_SERVER:
		return sent_later < 0 ? EXCHANGE_REQUESTED : EXCHANGE_NONE;
	case ROLE_CLIENT:
		return sent_later > 0 ? EXCHANGE_AWAITED : EXCHANGE_NONE;
	default:
		return EXCHANGE_NONE;
	}
}

/* Sums over the paths of one sample. In memory, where the verifier does not track their values. */
static volatile u64 requested_now, awaited_now;

/* Walks one path down from the root; directions: a bit for each level. Global: verified once. */
__noinline int awaited_on_path(u64 root, u32 directions)
{
	const struct rb_node *node = (const void *)root;

	for (u32 depth = 0; depth < DEPTH_MAX && node; depth++) {
		int state = awaited_at((u64)node);

		if (state == EXCHANGE_REQUESTED)
			requested_now += 1ULL << depth;
		else if (state == EXCHANGE_AWAITED)
			awaited_now += 1ULL << depth;
		node = directions >> depth & 1 ? BPF_CORE_READ(node, rb_left)
					       : BPF_CORE_READ(node, rb_right);
	}
	return 0;
}

/* Counts for a thread of a service that sleeps in epoll. */
static void awaited_count(struct task_struct *task, struct samples *seen)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	const struct file *file = file_in(file_slot(task, call_argument(regs, 1)));
	const struct eventpoll *ep = BPF_CORE_READ(file, private_data);
	u64 root = (u64)BPF_CORE_READ(ep, rbr.rb_root.rb_node);

	if (!root)
		return;
	requested_now = 0;
	awaited_now = 0;
#pragma unroll
	for (int i = 0; i < PATHS; i++)
		awaited_on_path(root, bpf_get_prandom_u32());
	add(&seen->requested, requested_now);
	add(&seen->awaited, awaited_now);
}

#endif
