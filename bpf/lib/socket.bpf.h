/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Sockets: which of them converse, and who of the two has called the other.
 * Both are read from the socket itself, so that those are known, too, that were
 * open before the probe.
 */
#ifndef SOCKET_BPF_H
#define SOCKET_BPF_H

#include "kernel/file.bpf.h"
#include "kernel/net.bpf.h"

/* With either a receive takes nothing that the other side has sent. */
#define MSG_NO_DATA (MSG_PEEK | MSG_ERRQUEUE)

enum socket_role { ROLE_NONE, ROLE_SERVER, ROLE_CLIENT };

/* Streams and datagrams of a network, and UNIX streams. */
static __always_inline bool socket_talks(u16 family, u16 type)
{
	switch (family) {
	case AF_INET:
	case AF_INET6:
		return type == SOCK_STREAM || type == SOCK_DGRAM;
	case AF_UNIX:
		return type == SOCK_STREAM;
	}
	return false;
}

/* The cheapest look: may its calls count? Most sockets that are none of ours go with it. */
static __always_inline bool socket_may_count(const struct sock *sk, bool clients)
{
	u16 family = sk->__sk_common.skc_family;

	return socket_talks(family, sk->sk_type) &&
	       (clients || family == AF_UNIX || sk->sk_type != SOCK_STREAM ||
		sk->sk_max_ack_backlog || sk->sk_protocol == IPPROTO_MPTCP);
}

/* What a client has bound is its own alone, be it of its choice or the kernel's
 * (SO_PASSCRED). Not told apart: the last connection of a listener that is closed, with such
 * a client. */
static bool socket_has_listener_address(const struct unix_sock *sk)
{
	const struct unix_sock *peer = (const struct unix_sock *)BPF_CORE_READ(sk, peer);
	const struct unix_address *own = BPF_CORE_READ(sk, addr);

	return own && (BPF_CORE_READ(own, refcnt.refs.counter) > 1 || !BPF_CORE_READ(peer, addr));
}

/* Of MPTCP the connection of TCP that was there first. */
static const struct sock *socket_stream(const struct sock *sk)
{
	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_MPTCP ||
	    !bpf_core_field_exists(struct mptcp_sock, first))
		return sk;
	return BPF_CORE_READ((const struct mptcp_sock *)sk, first);
}

/* What accept returns has inherited from its listener: the backlog (TCP) or
 * the address (UNIX). A datagram server has bound a port and no peer; the kernel does not
 * tell port 0 from none. */
static enum socket_role socket_role(const struct sock *sk)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u16 type = BPF_CORE_READ(sk, sk_type);
	bool server;

	if (!socket_talks(family, type) || BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN)
		return ROLE_NONE;
	if (family == AF_UNIX)
		server = socket_has_listener_address((const struct unix_sock *)sk);
	else if (type == SOCK_STREAM)
		server = BPF_CORE_READ(socket_stream(sk), sk_max_ack_backlog);
	else
		server = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & SOCK_BINDPORT_LOCK &&
			 BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_ESTABLISHED;
	return server ? ROLE_SERVER : ROLE_CLIENT;
}

static __always_inline bool socket_is_datagram(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_type) == SOCK_DGRAM;
}

/* Is a call that moves no octets one that moves a datagram? Not one that shutdown has ended. */
static __always_inline bool socket_has_empty(const struct sock *sk)
{
	return socket_is_datagram(sk) && !(BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN);
}

/* Is there more that nobody has received yet? */
static __always_inline bool socket_has_more(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_receive_queue.qlen);
}

/* Does a thread sleep until something comes, be it in a call that waits for several? */
static bool socket_has_waiter(const struct sock *sk)
{
	const struct socket_wq *queue = BPF_CORE_READ(sk, sk_wq);
	const struct list_head *first = BPF_CORE_READ(queue, wait.head.next);

	return first && first != __builtin_preserve_access_index(&queue->wait.head);
}

/* One of two that were made together, which only processes of one origin have. */
static bool socket_is_of_pair(const struct sock *sk)
{
	const struct unix_sock *own = (const struct unix_sock *)sk;
	const struct unix_sock *peer = (const struct unix_sock *)BPF_CORE_READ(own, peer);

	return BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX && !BPF_CORE_READ(own, addr) &&
	       !BPF_CORE_READ(peer, addr);
}

/* Does a program still have this stream, and may answer on it? */
static inline bool socket_is_open(const struct sock *sk)
{
	unsigned char state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT;
}

/* Has a program it still, so that it has not closed it? */
static inline bool socket_is_in_use(const struct sock *sk)
{
	const struct socket *socket = BPF_CORE_READ(sk, sk_socket);

	return socket && BPF_CORE_READ(socket, sk) == sk;
}

/* Of a stream: is there data that nobody has received yet? The end of it is none. */
static inline bool socket_has_unread(const struct sock *sk)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP)
		return socket_has_more(sk);
	return BPF_CORE_READ(tcp, rcv_nxt) - BPF_CORE_READ(tcp, copied_seq) >
	       (BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN);
}

/* When the last octet before `end` went out, 0: it has not. Exact when it is acknowledged and
 * nothing has gone since; before that, when the last segment went, be it an acknowledgement. */
static inline u64 socket_went_ns(const struct sock *sk, u32 end)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if ((s32)(BPF_CORE_READ(tcp, snd_nxt) - end) < 0)
		return 0;
	if ((s32)(BPF_CORE_READ(tcp, snd_una) - end) >= 0)
		return BPF_CORE_READ(tcp, first_tx_mstamp) * 1000;
	return BPF_CORE_READ(tcp, tcp_wstamp_ns);
}

/* Before it sent so many octets, had all been acknowledged that it sent? Of other sockets than TCP's
 * that is not known, and taken for granted; TLS in the kernel sends more than it is given. */
static inline bool socket_was_empty(const struct sock *sk, u64 sent)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP || socket_is_datagram(sk))
		return true;
	return BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_una) <= sent;
}

static __always_inline u32 socket_datagrams(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_receive_queue.qlen) +
	       BPF_CORE_READ((const struct udp_sock *)sk, reader_queue.qlen);
}

/* Of a UNIX connection: the number of the client's socket file. No other has it while both may be
 * remembered, nor has anybody when it is closed. */
static u64 socket_client_number(const struct sock *sk)
{
	const struct sock *client = sk;
	const struct socket *file;

	if (socket_has_listener_address((const struct unix_sock *)sk))
		client = BPF_CORE_READ((const struct unix_sock *)sk, peer);
	file = BPF_CORE_READ(client, sk_socket);
	return BPF_CORE_READ((const struct socket_alloc *)file, vfs_inode.i_ino);
}

/* Another at the same address in memory differs by its ends. */
static inline u64 socket_ends(const struct sock *sk)
{
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX)
		return (u64)BPF_CORE_READ((const struct unix_sock *)sk, peer) ^
		       socket_client_number(sk) << 32;
	return BPF_CORE_READ(sk, __sk_common.skc_addrpair) ^
	       (u64)BPF_CORE_READ(sk, __sk_common.skc_portpair) << 16;
}

static __always_inline bool file_is_socket(const struct file *file)
{
	return (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK;
}

/* Of a file that is a socket. */
static struct sock *socket_in(const struct file *file)
{
	const struct socket *socket = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(socket, sk);
}

/* NULL: it is none. */
static struct sock *socket_of_file(const struct file *file)
{
	return file_is_socket(file) ? socket_in(file) : NULL;
}

/* The file behind a descriptor of a process, NULL: there is none. */
static struct file *descriptor_file(const struct task_struct *task, u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

/* Likewise, the socket. */
static inline struct sock *socket_of(const struct task_struct *task, u64 fd)
{
	return socket_of_file(descriptor_file(task, fd));
}

#endif
