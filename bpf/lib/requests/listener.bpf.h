/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Connections that the listening sockets of a service drop, because their accept queue or the
 * queue of half-open connections is full. The kernel counts them in the socket; each reading takes
 * the growth, so that a connection that is accepted costs nothing.
 *
 * A listening socket is noted when it starts to listen; those that are older than the probe are
 * found by a walk over all open files. Which service has it open may change, by fork, exec or
 * socket activation, so drops are counted for a service only after such a walk: it runs at the
 * start, and at readings that find drops, for at most 1 % of a CPU; drops wait for it. Init
 * has only sockets on which it listens for others.
 *
 * Limits: TCP only. The kernel counts segments: a client that tries again is dropped again. Drops
 * between the last reading and the close of a socket are counted in hook sets 1 to 4.
 */
#ifndef LISTENER_BPF_H
#define LISTENER_BPF_H

#include "attached.bpf.h"
#include "holders.bpf.h"
#include "refused.bpf.h"
#include "services/service_slot.bpf.h"
#include "socket.bpf.h"

#define LISTENERS_MAX 4096
#define WALK_DIVISOR 100 /* walks use at most this part of a CPU */

struct listener_row {
	u64 drops METRIC("total_events-listen_drops") UNIT("segments") HELP(
		"Listen drops: new connections dropped, mostly because the accept queue is full");
};

MMAP_ARRAY(listener_slots, u32, 1);
MMAP_ARRAY(listener_owners, u32, 1);

MMAP_ARRAY(listener_rows, struct listener_row, 1)
SUBJECT("service via=listener_slots owners=listener_owners");

/* Of a socket that listens. */
struct listener {
	u64 inode;   /* another socket may come to be at its address */
	u64 pending; /* drops that are not yet counted for a service */
	u32 counted; /* drops, by the kernel's counter */
	u32 row;
	struct holders holders;
};

/* By the address of the socket. */
SPARSE_HASH(listeners, u64, struct listener, LISTENERS_MAX);

u32 listeners_uncertain = 1; /* there may be unknown ones, or drops are pending */

static u64 listeners_attached_ns; /* value of attached_ns at the last reading */
static bool listeners_pending;    /* drops of any are */
static u32 listeners_walk;        /* number of the current walk */
static u64 walk_began_cpu_ns, walk_cpu_ns, walk_ended_ns; /* of the last walk */

__noinline u32 listener_slot(u32 row)
{
	return slot_claim_from(&listener_slots, &listener_owners, row);
}

static void count_drops(u32 row, u64 drops)
{
	u32 slot = listener_slot(row);
	struct listener_row *counted = bpf_map_lookup_elem(&listener_rows, &slot);

	if (counted && service_watched(row))
		add(&counted->drops, drops);
}

static bool may_listen(const struct sock *sk)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u16 protocol = BPF_CORE_READ(sk, sk_protocol);

	return (family == AF_INET || family == AF_INET6) &&
	       (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

static u32 socket_drops(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_drops.counter);
}

/* Drops that neither a reading nor the close of the socket has counted yet. */
static u64 claim_drops(struct listener *l, const struct sock *sk)
{
	u32 now = socket_drops(sk);
	s32 growth = now - __sync_lock_test_and_set(&l->counted, now);

	return growth > 0 ? growth : 0;
}

/* NULL: it is not known. */
static struct listener *listener_at(const struct sock *sk)
{
	u64 at = (u64)sk;
	struct listener *l = bpf_map_lookup_elem(&listeners, &at);

	return l && l->inode == socket_inode(sk) ? l : NULL;
}

/* What it has dropped so far does not count. */
static __noinline void listener_make(const struct sock *sk, u32 row)
{
	u64 at = (u64)sk;
	struct listener new = {
		.inode = socket_inode(sk),
		.counted = socket_drops(sk),
		.row = row,
	};

	if (!listener_at(sk) && bpf_map_update_elem(&listeners, &at, &new, BPF_ANY))
		refuse();
}

/* --- hooks --- */

static void socket_listens(const struct sock *sk)
{
	if (may_listen(sk))
		listener_make(sk, service_of(bpf_get_current_task_btf()));
}

/* The last process that has it open closes it. */
static __noinline void listener_closes(const struct sock *sk)
{
	u64 at = (u64)sk;
	struct listener *l = listener_at(sk);

	if (!l)
		return;
	count_drops(service_of(bpf_get_current_task_btf()), l->pending + claim_drops(l, sk));
	bpf_map_delete_elem(&listeners, &at);
}

/* For hook sets 1 to 3. */
static __always_inline void listener_changes_state(const struct sock *sk, int before, int state)
{
	if (state == TCP_LISTEN)
		socket_listens(sk);
	else if (before == TCP_LISTEN)
		listener_closes(sk);
}

SEC("kprobe/inet_csk_listen_start")
HOOK_SET(4)
int BPF_KPROBE(request_kprobe_inet_csk_listen_start, struct sock *sk)
{
	socket_listens(sk);
	return 0;
}

SEC("kprobe/inet_csk_listen_stop")
HOOK_SET(4)
int BPF_KPROBE(request_kprobe_inet_csk_listen_stop, struct sock *sk)
{
	listener_closes(sk);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_listen")
HOOK_SET(5)
OPTION("syscalls")
int request_enter_listen(struct syscall_enter *ctx)
{
	const struct sock *sk = socket_of(bpf_get_current_task_btf(), ctx->args[0]);

	if (sk)
		socket_listens(socket_stream(sk));
	return 0;
}

/* --- readings --- */

/* A socket whose close was not seen is forgotten. Its state does not matter: it is noted just before
 * it listens. */
static long read_listener(void *map, u64 *at, struct listener *l, void *context)
{
	const struct sock *sk = (const struct sock *)*at;

	if (socket_inode(sk) != l->inode) {
		bpf_map_delete_elem(&listeners, at);
		return 0;
	}
	listener_slot(l->row);
	l->pending += claim_drops(l, sk);
	if (l->pending)
		listeners_pending = true;
	return 0;
}

static bool may_walk(void)
{
	return bpf_ktime_get_ns() - walk_ended_ns >= WALK_DIVISOR * walk_cpu_ns;
}

/* To within a tick. */
static u64 own_cpu_ns(void)
{
	return bpf_get_current_task_btf()->se.sum_exec_runtime;
}

/* While the probe paused, sockets may have started to listen. */
static void listeners_read(void)
{
	bpf_for_each_map_elem(&listeners, read_listener, NULL, 0);
	if (listeners_attached_ns != attached_ns || (listeners_pending && may_walk()))
		listeners_uncertain = 1;
	listeners_attached_ns = attached_ns;
}

static void visit_open_socket(struct task_struct *task, const struct sock *sk)
{
	struct listener *l;

	sk = socket_stream(sk);
	l = listener_at(sk);
	if (l && task->tgid != INIT_TGID)
		holders_note(&l->holders, listeners_walk, l->row, service_of(task));
	else if (!l)
		listener_make(sk, service_of(task));
}

static long settle_listener(void *map, u64 *at, struct listener *l, void *context)
{
	l->row = holders_row(&l->holders, l->row);
	count_drops(l->row, __sync_lock_test_and_set(&l->pending, 0));
	return 0;
}

SEC("iter/task_file")
WHEN(listeners_uncertain)
int request_listeners(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket *socket = file ? bpf_sock_from_file(file) : NULL;
	struct sock *sk = socket ? socket->sk : NULL;

	if (ctx->meta->seq_num == 0) {
		listeners_walk++;
		walk_began_cpu_ns = own_cpu_ns();
	}
	if (task && sk && sk->__sk_common.skc_state == TCP_LISTEN && may_listen(sk))
		visit_open_socket(task, sk);
	if (!file) {
		bpf_for_each_map_elem(&listeners, settle_listener, NULL, 0);
		listeners_uncertain = 0;
		listeners_pending = false;
		walk_cpu_ns = own_cpu_ns() - walk_began_cpu_ns;
		walk_ended_ns = bpf_ktime_get_ns();
	}
	return 0;
}

#endif
