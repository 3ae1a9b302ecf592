/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Estimates how many of the requests that an event loop has passed on wait for upstreams: from the
 * connections that it watches, by TCP's own times. A connection from a client that has received
 * last has an open request; one to an upstream that has sent last awaits a response. TCP's times
 * are ticks; which was last within one is guessed.
 *
 * An instance of epoll has what it watches in a tree. A small one is walked whole. In a larger one
 * some paths from the root, left or right at random, are walked: a node at depth d is reached with
 * the probability 2^-d and therefore counts 2^d times, so that the sums are right on average,
 * whatever the form of the tree.
 *
 * Limits: where responses and the requests after them come within a tick of 1 to 10 ms, the guess
 * is wrong where data is acknowledged at once, as on new connections. A connection on which an
 * upstream always owes a response, such as a poll that waits for news, counts like a request.
 */
#ifndef AWAITED_BPF_H
#define AWAITED_BPF_H

#include "blocked.bpf.h"
#include "services/service_request.bpf.h"

#define PATHS 8
#define DEPTH_MAX 24
#define TICK_NS_MAX 10000000ULL
#define STEPS_MAX 128 /* two for each node but the root */

enum exchange_state { EXCHANGE_NONE, EXCHANGE_REQUESTED, EXCHANGE_AWAITED };

/* 95th percentile of the service's response times, for the sample that is taken. */
static volatile u64 tail_now;

/* Both in one tick: a service that takes longer than that has received later; so has a connection
 * whose data is not acknowledged. Neither has an exchange that would be slower than all others. */
static bool received_in_tick(const struct tcp_sock *tcp, bool is_server)
{
	u64 sent_ns = BPF_CORE_READ(tcp, first_tx_mstamp) * 1000, now = bpf_ktime_get_ns();
	bool received = BPF_CORE_READ(tcp, rcv_nxt) != BPF_CORE_READ(tcp, rcv_wup);
	bool ended = grown(now, sent_ns) > tail_now + tail_now / 8;

	if (!is_server)
		return received || ended;
	return tail_now > TICK_NS_MAX ? !ended : received;
}

/* Has a connection received later than it has sent? */
static bool received_last(const struct tcp_sock *tcp, bool is_server)
{
	s32 later = BPF_CORE_READ(tcp, inet_conn.icsk_ack.lrcvtime) - BPF_CORE_READ(tcp, lsndtime);

	return later ? later > 0 : received_in_tick(tcp, is_server);
}

/* enum exchange_state of the socket that this node of an epoll tree watches. Global: verified
 * once. */
__noinline int awaited_at(u64 node)
{
	const struct epitem *item = (const void *)node - bpf_core_field_offset(struct epitem, rbn);
	const struct sock *sk = socket_of_file(BPF_CORE_READ(item, ffd.file));
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if (!sk || BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_type) != SOCK_STREAM ||
	    BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_ESTABLISHED ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP)
		return EXCHANGE_NONE;
	switch (socket_role(sk)) {
	case ROLE_SERVER:
		return received_last(tcp, true) ? EXCHANGE_REQUESTED : EXCHANGE_NONE;
	case ROLE_CLIENT:
		return received_last(tcp, false) ? EXCHANGE_NONE : EXCHANGE_AWAITED;
	default:
		return EXCHANGE_NONE;
	}
}

/* Sums of one sample. In memory, where the verifier does not track their values. */
static volatile u64 requested_now, awaited_now;

static void count_node(u64 node, u64 times)
{
	int state = awaited_at(node);

	if (state == EXCHANGE_REQUESTED)
		requested_now += times;
	else if (state == EXCHANGE_AWAITED)
		awaited_now += times;
}

static __always_inline const struct rb_node *parent_of(const struct rb_node *node)
{
	return (const void *)(BPF_CORE_READ(node, __rb_parent_color) & ~3UL);
}

/* The next edge of a walk that came to the node from `before`, its parent or a child; each node is
 * visited when the walk comes from its parent. */
static __always_inline const struct rb_node *next_of(const struct rb_node *node,
						     const struct rb_node *before)
{
	const struct rb_node *parent = parent_of(node), *left = BPF_CORE_READ(node, rb_left),
			     *right = BPF_CORE_READ(node, rb_right);

	if (before == parent && left)
		return left;
	if (before != right && right)
		return right;
	return parent;
}

/* Walks the whole tree; each node counts as on all paths. false: it is too large. Global: verified
 * once. */
__noinline int awaited_in_tree(u64 root)
{
	const struct rb_node *node = (const void *)root, *before = NULL, *next;

	requested_now = 0;
	awaited_now = 0;
	for (u32 step = 0; step < STEPS_MAX; step++) {
		if (!node)
			return true;
		if (before == parent_of(node))
			count_node((u64)node, PATHS);
		next = next_of(node, before);
		before = node;
		node = next;
	}
	return !node;
}

/* Walks one path down from the root; directions: a bit for each level. Global: verified once. */
__noinline int awaited_on_path(u64 root, u32 directions)
{
	const struct rb_node *node = (const void *)root;

	for (u32 depth = 0; depth < DEPTH_MAX && node; depth++) {
		count_node((u64)node, 1ULL << depth);
		node = directions >> depth & 1 ? BPF_CORE_READ(node, rb_left)
					       : BPF_CORE_READ(node, rb_right);
	}
	return 0;
}

/* Counts for a thread of a service that sleeps in epoll. true: more requests are open on what it
 * watches than wait for upstreams. */
static bool awaited_count(struct task_struct *task, struct samples *seen, u64 tail_ns)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	const struct file *file = file_in(file_slot(task, call_argument(regs, 1)));
	const struct eventpoll *ep = BPF_CORE_READ(file, private_data);
	u64 root = (u64)BPF_CORE_READ(ep, rbr.rb_root.rb_node);

	if (!root)
		return false;
	tail_now = tail_ns;
	if (!awaited_in_tree(root)) {
		requested_now = 0;
		awaited_now = 0;
#pragma unroll
		for (int i = 0; i < PATHS; i++)
			awaited_on_path(root, bpf_get_prandom_u32());
	}
	add(&seen->requested, requested_now);
	add(&seen->awaited, awaited_now);
	return requested_now > awaited_now;
}

#endif
