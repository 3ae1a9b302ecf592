/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Finds what a thread is blocked on: from the system call that it is in, the file that this call
 * is about, and what the kernel notes of waits for disks and memory. Nothing is remembered between
 * two samples, and no user memory of another process is read: what poll and select wait for is
 * unknown, and so is how long a timeout is.
 *
 * Of a wait for a page, memory is short if the kernel notes a stall of memory (PSI), as it does for
 * reclaim and for a page that was evicted a short time ago; any other page is read from a disk.
 *
 * A thread that reads a pipe waits for its child if one lives that it has made since the request
 * began. In a poll that does not watch the request's socket it does if a pipe to which such a child
 * writes is waited for. A thread's children are those that it has made itself.
 *
 * A thread that waits in epoll with a request in hand may receive others meanwhile. It is not
 * blocked if that epoll watches the socket of the request, a listener, the connection of another
 * client, or another epoll. Otherwise it waits for an upstream if a connection to one is among
 * what it watches; if not, for another thread or process to wake it, as PostgreSQL does for row
 * locks.
 */
#ifndef BLOCKED_BPF_H
#define BLOCKED_BPF_H

#include "descriptor.bpf.h"
#include "kernel/syscall.bpf.h"
#include "socket.bpf.h"

#define WATCHERS_MAX 4 /* inspected, of the epolls that watch a socket */
#define EPOLL_ITEMS 8  /* inspected, plus one: 3 levels of a tree */
#define CHILDREN_MAX 4 /* inspected, the newest first */
#define JOINED_MIN 4   /* locks that processes share wait for lower numbers, too */

enum blocked {
	BLOCKED_NOT,
	BLOCKED_DISK,
	BLOCKED_MEMORY,
	BLOCKED_LOCK,
	BLOCKED_TIMED_WAIT,
	BLOCKED_UPSTREAM,
	BLOCKED_CLIENT,
	BLOCKED_PIPE,
	BLOCKED_CHILD,
	BLOCKED_EVENT,
	BLOCKED_SLEEP,
	BLOCKED_STOPPED,
	BLOCKED_OTHER,
	BLOCKED_EVENTS,
	BLOCKED_IDLE,
};

/* --- epoll --- */

/* Does it watch this file? Of several epolls that watch the file, WATCHERS_MAX are inspected. */
static bool epoll_watches(const struct eventpoll *ep, const struct file *file)
{
	const struct hlist_node *link = BPF_CORE_READ(file, f_ep, first);

	for (int i = 0; i < WATCHERS_MAX && link; i++) {
		const struct epitem *item =
			(const void *)link - bpf_core_field_offset(struct epitem, fllink);

		if (BPF_CORE_READ(item, ep) == ep)
			return true;
		link = BPF_CORE_READ(link, next);
	}
	return false;
}

/* What a thread waits for in an epoll that watches the file of this node. epoll_op: the file
 * operations of epoll. Global: verified once. */
__noinline int blocked_on_item(u64 node, u64 epoll_op)
{
	const struct epitem *item = (const void *)node - bpf_core_field_offset(struct epitem, rbn);
	const struct file *file = BPF_CORE_READ(item, ffd.file);
	const struct sock *sk = socket_of_file(file);

	if ((u64)BPF_CORE_READ(file, f_op) == epoll_op)
		return BLOCKED_EVENTS;
	if (!sk)
		return BLOCKED_LOCK;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN)
		return BLOCKED_EVENTS;
	switch (socket_role(sk)) {
	case ROLE_SERVER:
		return BLOCKED_EVENTS;
	case ROLE_CLIENT:
		return BLOCKED_UPSTREAM;
	default:
		return BLOCKED_LOCK;
	}
}

static int blocked_on_items(const struct eventpoll *ep, u64 epoll_op)
{
	const struct rb_node *node[EPOLL_ITEMS] = { NULL, BPF_CORE_READ(ep, rbr.rb_root.rb_node) };
	int what = BLOCKED_LOCK;

#pragma unroll
	for (int i = 1; i < EPOLL_ITEMS; i++) {
		int item = node[i] ? blocked_on_item((u64)node[i], epoll_op) : BLOCKED_LOCK;

		if (item == BLOCKED_EVENTS)
			return item;
		if (item != BLOCKED_LOCK)
			what = item;
		if (node[i] && 2 * i + 1 < EPOLL_ITEMS) {
			node[2 * i] = BPF_CORE_READ(node[i], rb_left);
			node[2 * i + 1] = BPF_CORE_READ(node[i], rb_right);
		}
	}
	return what;
}

/* The file of an open socket at this address; NULL: it has been closed. */
static const struct file *socket_file(const struct sock *sk)
{
	const struct socket *socket = BPF_CORE_READ(sk, sk_socket);

	return BPF_CORE_READ(socket, sk) == sk ? BPF_CORE_READ(socket, file) : NULL;
}

/* What a thread waits for in this epoll with a request of the socket in_hand_sk in hand. Global:
 * verified once. */
__noinline int blocked_in_epoll(u64 epoll, u64 in_hand_sk)
{
	const struct file *own = socket_file((const void *)in_hand_sk), *file = (const void *)epoll;
	const struct eventpoll *ep = BPF_CORE_READ(file, private_data);

	if (!own || !ep || !bpf_core_field_exists(own->f_ep) || epoll_watches(ep, own))
		return BLOCKED_EVENTS;
	return blocked_on_items(ep, (u64)BPF_CORE_READ(file, f_op));
}

/* --- reads and writes --- */

static int blocked_on_socket(const struct sock *sk, u64 in_hand_sk, bool receives)
{
	enum socket_role role;

	if ((u64)sk == in_hand_sk)
		return BLOCKED_CLIENT;
	role = socket_role(sk);
	if (role == ROLE_SERVER && !receives)
		return BLOCKED_CLIENT;
	if (role == ROLE_CLIENT)
		return BLOCKED_UPSTREAM;
	if (socket_is_of_pair(sk))
		return BLOCKED_PIPE;
	return receives && !in_hand_sk ? BLOCKED_IDLE : BLOCKED_OTHER;
}

static bool is_anonymous(const struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == ANON_INODE_FS_MAGIC;
}

/* Of files without a name of their own. eventfd, signalfd and timerfd are never a source of
 * requests; inotify and others may be. */
static int blocked_on_anonymous(const struct file *file, bool may_idle)
{
	const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	char begin[4] = {};

	bpf_probe_read_kernel(begin, sizeof(begin), name);
	if (begin[0] == '[' && begin[1] == 't' && begin[2] == 'i')
		return BLOCKED_SLEEP;
	if (begin[0] == '[' &&
	    ((begin[1] == 'e' && begin[2] == 'v') || (begin[1] == 's' && begin[2] == 'i')))
		return BLOCKED_EVENT;
	return may_idle ? BLOCKED_IDLE : BLOCKED_EVENT;
}

/* file: its address, 0: unknown. Global: verified once. */
__noinline int blocked_on_file(u64 behind, u64 in_hand_sk, bool receives)
{
	const struct file *file = (const void *)behind;
	bool may_idle = receives && !in_hand_sk;

	if (!file)
		return BLOCKED_OTHER;
	if (is_anonymous(file))
		return blocked_on_anonymous(file, may_idle);
	switch (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) {
	case S_IFSOCK:
		return blocked_on_socket(socket_in(file), in_hand_sk, receives);
	case S_IFIFO:
		return BLOCKED_PIPE;
	case S_IFREG:
	case S_IFBLK:
	case S_IFDIR:
		return BLOCKED_DISK;
	default:
		return may_idle ? BLOCKED_IDLE : BLOCKED_OTHER;
	}
}

/* --- children --- */

/* Is this a pipe that a thread reads, or waits to read? Global: verified once. */
__noinline int pipe_is_awaited(u64 address)
{
	const struct file *file = (const void *)address;
	const struct pipe_inode_info *pipe = BPF_CORE_READ(file, private_data);

	return (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFIFO &&
	       queue_has_waiter(__builtin_preserve_access_index(&pipe->rd_wait));
}

/* Does a thread wait for what a child writes to this descriptor? The parent's own output, which a
 * child may inherit, is read by others. Global: verified once. */
__noinline int output_is_awaited(u64 address, u32 fd)
{
	const struct task_struct *child = (const void *)address;
	const struct task_struct *parent = BPF_CORE_READ(child, real_parent);
	const struct file *file = descriptor_file(child, fd);

	return file != descriptor_file(parent, 1) && file != descriptor_file(parent, 2) &&
	       pipe_is_awaited((u64)file);
}

/* Is there a child that lives and began at since_ns or later? newest, head: addresses in the list
 * of a thread's children. Global: verified once. */
__noinline int child_lives(u64 newest, u64 head, u64 since_ns, bool must_be_awaited)
{
	for (int i = 0; i < CHILDREN_MAX && newest != head; i++) {
		const struct list_head *sibling = (const void *)newest;
		const struct task_struct *child =
			(const void *)sibling - bpf_core_field_offset(struct task_struct, sibling);

		if (BPF_CORE_READ(child, start_time) < since_ns)
			return false;
		if (!(BPF_CORE_READ(child, flags) & PF_EXITING) &&
		    (!must_be_awaited || output_is_awaited((u64)child, 1) ||
		     output_is_awaited((u64)child, 2)))
			return true;
		newest = (u64)BPF_CORE_READ(sibling, prev);
	}
	return false;
}

/* The same of the children of this thread. */
static __always_inline bool thread_has_child(struct task_struct *task, u64 since_ns,
					     bool must_be_awaited)
{
	const struct list_head *oldest = BPF_CORE_READ(task, children.next);

	return child_lives((u64)BPF_CORE_READ(task, children.prev),
			   (u64)BPF_CORE_READ(oldest, prev), since_ns, must_be_awaited);
}

/* --- calls --- */

/* PF_MEMALLOC: it reclaims memory. Where PSI is switched off, only that is known. */
static __always_inline bool task_in_memstall(const struct task_struct *task)
{
	return task->flags & PF_MEMALLOC || (bpf_core_field_exists(task->in_memstall) &&
					     BPF_CORE_READ_BITFIELD(task, in_memstall));
}

/* By a signal, a tracer, or either version of the freezer. */
static __always_inline bool task_is_stopped(const struct task_struct *task, u32 state)
{
	return state & (TASK_STOPPED_OR_TRACED | TASK_FROZEN) ||
	       (task->jobctl & JOBCTL_TRAP_FREEZE && bpf_core_field_exists(task->frozen) &&
		BPF_CORE_READ_BITFIELD(task, frozen));
}

static __always_inline bool task_receives(struct task_struct *task)
{
	return call_kind(call_number((struct pt_regs *)bpf_task_pt_regs(task))) == CALL_RECEIVE;
}

/* Does this poll or select watch no descriptor, so that it only waits for its timeout? Without a
 * timeout it waits for a signal. */
static __always_inline bool poll_has_none(enum call_kind kind, struct pt_regs *regs)
{
	if (kind == CALL_SELECT)
		return !(u32)call_argument(regs, 1);
	return !(u32)call_argument(regs, 2);
}

static __always_inline bool poll_has_timeout(enum call_kind kind, struct pt_regs *regs)
{
	switch (kind) {
	case CALL_POLL:
		return (s32)call_argument(regs, 3) >= 0;
	case CALL_PPOLL:
		return call_argument(regs, 3);
	default:
		return call_argument(regs, 5);
	}
}

/* Address of the file that the call's first argument names; 0: none. The verifier of Linux 7.3
 * considers what file_slot() returns a pointer, which it does not accept as the number that a
 * global function wants. */
static __always_inline u64 argument_file(struct task_struct *task, struct pt_regs *regs)
{
	return (u64)file_in(file_slot(task, call_argument(regs, 1)));
}

static bool futex_has_timeout(const struct pt_regs *regs)
{
	switch (call_argument(regs, 2) & FUTEX_COMMAND) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return call_argument(regs, 4);
	default:
		return false;
	}
}

/* Does it wait for another thread's end, as pthread_join of glibc does? The futex contains that
 * thread's number, and is not private since the kernel wakes its waiters. Semaphores and locks that
 * processes share contain lower numbers. */
static bool futex_joins(const struct pt_regs *regs)
{
	return (u32)call_argument(regs, 2) == (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME) &&
	       (u32)call_argument(regs, 3) >= JOINED_MIN;
}

static __always_inline enum blocked blocked_on_futex(const struct pt_regs *regs)
{
	if (futex_has_timeout(regs))
		return BLOCKED_TIMED_WAIT;
	return futex_joins(regs) ? BLOCKED_EVENT : BLOCKED_LOCK;
}

static __always_inline bool fcntl_locks(const struct pt_regs *regs)
{
	u32 command = call_argument(regs, 2);

	return command == F_SETLKW || command == F_OFD_SETLKW;
}

/* The descriptors that a poll waits for are in the process's memory: whether it waits for the
 * request's socket is read from that socket's wait queue instead. Global: verified once. */
__noinline int blocked_in_poll(u64 in_hand_sk)
{
	return in_hand_sk && !socket_has_waiter((const void *)in_hand_sk) ? BLOCKED_UPSTREAM
									  : BLOCKED_IDLE;
}

/* In a call that waits for the file of its first argument. */
static __always_inline enum blocked blocked_on_argument(struct task_struct *task,
							struct pt_regs *regs, u64 in_hand_sk,
							u64 began_ns, enum call_kind kind)
{
	enum blocked what;

	if (kind == CALL_EPOLL)
		what = blocked_in_epoll(argument_file(task, regs), in_hand_sk);
	else
		what = blocked_on_file(argument_file(task, regs), in_hand_sk, kind == CALL_RECEIVE);
	if ((kind == CALL_EPOLL && what == BLOCKED_LOCK) ||
	    (kind == CALL_RECEIVE && what == BLOCKED_PIPE))
		return thread_has_child(task, began_ns, false) ? BLOCKED_CHILD : what;
	return what;
}

static __always_inline enum blocked blocked_in_call(struct task_struct *task, u32 state,
						    struct pt_regs *regs, u64 in_hand_sk,
						    u64 began_ns)
{
	bool in_disk_sleep = state & TASK_UNINTERRUPTIBLE;
	enum call_kind kind = call_kind(call_number(regs));
	enum blocked what;

	if (kind == CALL_RESTART)
		kind = call_restarted(task, regs);
	switch (kind) {
	case CALL_LOCK:
		return BLOCKED_LOCK;
	case CALL_TIMED_LOCK:
		return call_argument(regs, 4) ? BLOCKED_TIMED_WAIT : BLOCKED_LOCK;
	case CALL_FUTEX:
		return blocked_on_futex(regs);
	case CALL_FUTEX_WAIT:
		return call_argument(regs, 5) ? BLOCKED_TIMED_WAIT : BLOCKED_LOCK;
	case CALL_EPOLL:
		if (!in_hand_sk)
			return BLOCKED_EVENTS;
		/* fall through */
	case CALL_RECEIVE:
	case CALL_SEND:
		return blocked_on_argument(task, regs, in_hand_sk, began_ns, kind);
	case CALL_ACCEPT:
		return BLOCKED_IDLE;
	case CALL_CONNECT:
		return BLOCKED_UPSTREAM;
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_SELECT:
		if (poll_has_none(kind, regs))
			return poll_has_timeout(kind, regs) ? BLOCKED_SLEEP : BLOCKED_EVENT;
		what = blocked_in_poll(in_hand_sk);
		return what == BLOCKED_UPSTREAM && thread_has_child(task, began_ns, true)
			       ? BLOCKED_CHILD
			       : what;
	case CALL_SLEEP:
		return BLOCKED_SLEEP;
	case CALL_CHILD:
		return BLOCKED_CHILD;
	case CALL_EVENT:
		return BLOCKED_EVENT;
	case CALL_SYNC:
		return BLOCKED_DISK;
	case CALL_FCNTL:
		if (fcntl_locks(regs))
			return BLOCKED_LOCK;
		/* fall through */
	case CALL_FILES:
		return in_disk_sleep ? BLOCKED_DISK : BLOCKED_OTHER;
	case CALL_MEMORY:
		return in_disk_sleep ? BLOCKED_MEMORY : BLOCKED_OTHER;
	default:
		return BLOCKED_OTHER;
	}
}

/* What a thread waits for that has left its CPU in this state. in_hand_sk: address of the socket
 * whose request it has in hand, 0: none. began_ns: when that request began. io_uring sets in_iowait
 * when it waits for events, so it is tested before that. */
static __noinline enum blocked blocked_by(struct task_struct *task, u32 state, u64 in_hand_sk,
					  u64 began_ns)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool is_fault = call_number(regs) == ~0U;

	if (task_is_stopped(task, state))
		return BLOCKED_STOPPED;
	if (!regs_32_bit(regs) && call_kind(call_number(regs)) == CALL_IO_URING &&
	    !(task->flags & PF_IO_WORKER))
		return BLOCKED_EVENTS;
	if (task_in_memstall(task))
		return BLOCKED_MEMORY;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return BLOCKED_DISK;
	if (is_fault && state & TASK_UNINTERRUPTIBLE)
		return BLOCKED_MEMORY;
	if (task->flags & PF_IO_WORKER)
		return state & TASK_UNINTERRUPTIBLE ? BLOCKED_DISK : BLOCKED_IDLE;
	if (regs_32_bit(regs) || is_fault)
		return BLOCKED_OTHER;
	return blocked_in_call(task, state, regs, in_hand_sk, began_ns);
}

/* What a thread waits for that is neither on a CPU nor queued for one. */
static __always_inline enum blocked blocked_on(struct task_struct *task, u64 in_hand_sk,
					       u64 began_ns)
{
	if (task->on_cpu || task->flags & (PF_KTHREAD | PF_EXITING))
		return BLOCKED_NOT;
	return blocked_by(task, task->__state, in_hand_sk, began_ns);
}

#endif
